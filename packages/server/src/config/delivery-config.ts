/** A way for messages to leave, as the deployment configures it: `FIELDGATE_DELIVERY` is a list of them. */
export type ChannelConfig = SmtpConfig | SmppConfig | HttpGatewayConfig;

interface CommonConfig {
  /** What tenants, the journal and the metrics call it. */
  readonly name: string;
  /** How many messages it takes at the same time. */
  readonly parallel: number;
  /** Milliseconds a message may take. */
  readonly timeoutMs: number;
}

export interface SmtpConfig extends CommonConfig {
  readonly type: "smtp";
  readonly medium: "email";
  readonly host: string;
  readonly port: number;
  /** `implicit`: TLS from the first byte. `starttls`: demanded before anything is said. `none`: in the clear. */
  readonly tls: "implicit" | "starttls" | "none";
  readonly auth: { readonly user: string; readonly password: string } | null;
  /** An address, perhaps with a name before it. */
  readonly from: string;
  /** PEM of the authority that signed the server's certificate; null for those the system trusts. */
  readonly ca: string | null;
}

export interface SmppConfig extends CommonConfig {
  readonly type: "smpp";
  readonly medium: "sms";
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  /** The sender: a number, a short code, or up to 11 letters; with its type and numbering plan as SMPP counts them. */
  readonly from: { readonly address: string; readonly ton: number; readonly npi: number };
  /** Milliseconds of silence after which we ask whether the other side is still there. */
  readonly enquireMs: number;
  /** `hex`: the other side names a message in hexadecimal when it takes it, and in decimal in its receipt. */
  readonly messageIds: "same" | "hex";
  readonly ca: string | null;
}

/** Text in which `{to}`, `{toDigits}`, `{text}`, `{subject}`, `{id}`, `{tenant}`, `{alphabet}` and `{receipts}` are filled in. */
export type Template = string;
export type JsonTemplate =
  | Template
  | number
  | boolean
  | null
  | readonly JsonTemplate[]
  | { readonly [key: string]: JsonTemplate };

export type BodyTemplate =
  | { readonly kind: "json"; readonly value: JsonTemplate }
  | { readonly kind: "form"; readonly fields: Readonly<Record<string, Template>> }
  | { readonly kind: "text"; readonly contentType: string; readonly text: Template };

/** A value in a JSON answer, such as `messages[0].status`, and what it has to be; without `in` it only has to exist. */
export interface AnswerRule {
  readonly path: string;
  readonly in?: readonly (string | number | boolean)[];
}

/** How a gateway posts what became of a message. */
export interface ReceiptRule {
  /** What its address ends with: whoever knows it is the gateway. */
  readonly secret: string;
  /** Where a receipt has the gateway's name for the message. */
  readonly id: string;
  /** Where it says what became of it, and what means the end of the journey; all else is on its way. */
  readonly status: string;
  readonly delivered: readonly string[];
  readonly failed: readonly string[];
}

export interface HttpGatewayConfig extends CommonConfig {
  readonly type: "http";
  readonly medium: "sms" | "email";
  readonly method: "GET" | "POST" | "PUT";
  readonly url: Template;
  readonly headers: Readonly<Record<string, Template>>;
  /** Null for GET. */
  readonly body: BodyTemplate | null;
  readonly success: {
    readonly status: { readonly from: number; readonly to: number };
    readonly answer: AnswerRule | null;
  };
  /** Answers after which this message need not be tried again here. */
  readonly refused: AnswerRule | null;
  /** Where the answer holds the gateway's name for the message. */
  readonly messageId: string | null;
  /** Null where it posts none. */
  readonly receipts: ReceiptRule | null;
}
