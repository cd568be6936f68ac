import type { Channel, OutboundMessage } from "../../src/delivery/channel.ts";
import type { Medium } from "../../src/delivery/outbox.ts";

/** A channel whose messages a test can read. What real gateways do is tested with real gateways. */
export class TestChannel implements Channel {
  readonly name: string;
  readonly medium: Medium;
  readonly sent: OutboundMessage[] = [];

  constructor(name: string, medium: Medium) {
    this.name = name;
    this.medium = medium;
  }

  async send(message: OutboundMessage) {
    this.sent.push(message);
    return { providerId: message.id };
  }

  async close() {}

  /** The newest code sent to an address; waits for it. */
  async codeFor(address: string, after = 0): Promise<string> {
    for (let tries = 0; tries < 200; tries += 1) {
      const message = this.sent.slice(after).findLast((each) => each.to === address);
      const code = message && /#(\d{6})$/.exec(message.text)?.[1];
      if (code) return code;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`No code came for ${address}.`);
  }
}
