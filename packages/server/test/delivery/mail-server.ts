import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header and body, as they came over the wire. */
  readonly raw: string;
}

/** A real mail server on a loopback port, which can be told to misbehave. */
export interface MailServer {
  readonly port: number;
  readonly mails: Mail[];
  /** How many connections there ever were, and how many at once. */
  readonly connections: { total: number; open: number; most: number };
  /** The answer to each recipient; null takes it. */
  answerTo: (address: string) => { code: number; text: string } | null;
  /** What happens once a message has come: `hang` never answers, `drop` cuts the connection. */
  onMessage: "take" | "hang" | "drop";
  /** Ends every connection from the server's side, where they are without TLS. */
  hangUp(): void;
  stop(): Promise<void>;
}

export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const sockets = new Set<Socket>();
  const connections = { total: 0, open: 0, most: 0 };
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: options.key ? [] : ["STARTTLS"],
    allowInsecureAuth: true,
    closeTimeout: 100,
    onRcptTo({ address }, _session, callback) {
      const refusal = server.answerTo(address);
      callback(refusal && Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
    },
    onData(stream, { envelope }, callback) {
      void text(stream).then((raw) => {
        if (server.onMessage === "drop") return server.hangUp();
        if (server.onMessage === "hang") return;
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        server.mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), raw });
        callback();
      });
    },
    ...options,
  });
  smtp.on("error", () => {});
  smtp.server.on("connection", (socket: Socket) => {
    // Node crashes when the socket below a TLS connection is destroyed by itself.
    if (!options.key) sockets.add(socket);
    connections.total += 1;
    connections.open += 1;
    connections.most = Math.max(connections.most, connections.open);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      connections.open -= 1;
    });
  });
  smtp.listen(0, "127.0.0.1");
  await once(smtp.server, "listening");
  const server: MailServer = {
    port: (smtp.server.address() as AddressInfo).port,
    mails: [],
    connections,
    answerTo: () => null,
    onMessage: "take",
    hangUp() {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      server.hangUp();
      await new Promise<void>((resolve) => smtp.close(() => resolve()));
    },
  };
  return server;
}
