import type { ReceiptRule } from "./delivery-config.ts";

/**
 * Gateways that many use, written as the `http` channel that an operator would write. `<name>` stands for a field of
 * the channel; a line whose optional field is missing is left out.
 */
export interface GatewayPreset {
  readonly fields: Readonly<Record<string, { readonly what: string; readonly optional?: true }>>;
  /** Of these at least one is needed. */
  readonly oneOf?: readonly string[];
  /** Where the service is; `baseUrl` of the channel may name another region or a sandbox. */
  readonly baseUrl: string;
  readonly path: string;
  readonly gateway: Readonly<Record<string, unknown>>;
  /** The words of its receipts, and the field of the form that asks for them where each message has to. */
  readonly receipts: Omit<ReceiptRule, "secret"> & { readonly askedBy?: string };
}

export const gatewayPresets: Readonly<Record<string, GatewayPreset>> = {
  twilio: {
    fields: {
      accountSid: { what: "the Account SID, AC…" },
      authToken: { what: "the Auth Token" },
      from: { what: "the sender: a number in E.164 or a name", optional: true },
      messagingServiceSid: { what: "a Messaging Service, MG…", optional: true },
    },
    oneOf: ["from", "messagingServiceSid"],
    baseUrl: "https://api.twilio.com",
    path: "/2010-04-01/Accounts/<accountSid>/Messages.json",
    gateway: {
      basicAuth: { user: "<accountSid>", password: "<authToken>" },
      form: { To: "{to}", From: "<from>", MessagingServiceSid: "<messagingServiceSid>", Body: "{text}" },
      success: { status: [200, 299], path: "sid" },
      messageId: "sid",
    },
    receipts: {
      id: "MessageSid",
      status: "MessageStatus",
      delivered: ["delivered", "read"],
      failed: ["undelivered", "failed"],
      askedBy: "StatusCallback",
    },
  },
  vonage: {
    fields: {
      apiKey: { what: "the API key" },
      apiSecret: { what: "the API secret" },
      from: { what: "the sender: a number or a name" },
    },
    baseUrl: "https://rest.nexmo.com",
    path: "/sms/json",
    gateway: {
      form: {
        api_key: "<apiKey>",
        api_secret: "<apiSecret>",
        from: "<from>",
        to: "{toDigits}",
        text: "{text}",
        type: "{alphabet}",
      },
      // It answers 200 whatever happens: the status inside is what counts.
      success: { status: [200, 299], path: "messages[0].status", in: ["0"] },
      refused: { path: "messages[0].status", in: ["3", "6", "7", "12", "15", "22"] },
      messageId: "messages[0].message-id",
    },
    receipts: {
      id: "messageId",
      status: "status",
      delivered: ["delivered"],
      failed: ["expired", "failed", "rejected"],
      askedBy: "callback",
    },
  },
  africastalking: {
    fields: {
      username: { what: "the username of the app" },
      apiKey: { what: "the API key" },
      from: { what: "the sender: a short code or a name", optional: true },
    },
    baseUrl: "https://api.africastalking.com",
    path: "/version1/messaging",
    gateway: {
      headers: { apiKey: "<apiKey>", Accept: "application/json" },
      form: { username: "<username>", to: "{to}", message: "{text}", from: "<from>" },
      success: { status: [200, 299], path: "SMSMessageData.Recipients[0].statusCode", in: [100, 101, 102] },
      refused: { path: "SMSMessageData.Recipients[0].statusCode", in: [403, 404, 406, 409] },
      messageId: "SMSMessageData.Recipients[0].messageId",
    },
    // Its callback is set on its dashboard.
    receipts: {
      id: "id",
      status: "status",
      delivered: ["Success"],
      failed: ["Rejected", "Failed", "AbsentSubscriber", "Expired"],
    },
  },
};

/** The template with its fields in their places; undefined where an optional one is missing. */
export function fillPreset(template: unknown, values: Readonly<Record<string, string>>): unknown {
  if (typeof template === "string") {
    const names = [...template.matchAll(/<(\w+)>/g)].map(([, name]) => name ?? "");
    if (names.some((name) => values[name] === undefined)) return undefined;
    return template.replace(/<(\w+)>/g, (_, name: string) => values[name] ?? "");
  }
  if (Array.isArray(template)) return template.map((item) => fillPreset(item, values));
  if (typeof template !== "object" || template === null) return template;
  const entries = Object.entries(template).map(([key, inner]) => [key, fillPreset(inner, values)] as const);
  return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined));
}
