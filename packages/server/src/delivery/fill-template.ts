import type { BodyTemplate, JsonTemplate, Template } from "../config/delivery-config.ts";
import type { OutboundMessage } from "./channel.ts";
import { smsText } from "./sms-text.ts";

export const placeholders = ["to", "toDigits", "text", "subject", "id", "tenant", "alphabet", "receipts"] as const;
export type Values = Readonly<Record<(typeof placeholders)[number], string>>;

/** What a template can be filled with. `receipts`: where the gateway may post what became of the message. */
export function valuesOf(message: OutboundMessage, receipts = ""): Values {
  return {
    to: message.to,
    toDigits: message.to.replace(/^\+/, ""),
    // Half of a pair of surrogates can be written in no encoding.
    text: message.text.toWellFormed(),
    subject: message.subject.toWellFormed(),
    id: message.id,
    tenant: message.tenantId,
    // What gateways call the two ways of an SMS.
    alphabet: smsText(message.text, 0).alphabet === "gsm" ? "text" : "unicode",
    receipts,
  };
}

const known = new RegExp(`\\{(${placeholders.join("|")})\\}`, "g");

/** Each value is written once in the way the place demands, and what it holds is never taken for a placeholder. */
export function fill(template: Template, values: Values, write: (text: string) => string = (text) => text): string {
  return template.replace(known, (_, key: keyof Values) => write(values[key]));
}

/** The body of a request and its type; each value is escaped as that type demands. */
export function fillBody(body: BodyTemplate, values: Values): { readonly type: string; readonly text: string } {
  switch (body.kind) {
    case "json":
      return { type: "application/json", text: JSON.stringify(fillJson(body.value, values)) };
    case "form": {
      const fields = Object.entries(body.fields).map(([name, template]): [string, string] => [
        name,
        fill(template, values),
      ]);
      return { type: "application/x-www-form-urlencoded", text: new URLSearchParams(fields).toString() };
    }
    case "text":
      return { type: body.contentType, text: fill(body.text, values, escapeFor(body.contentType)) };
  }
}

/** Only texts are filled in: whatever a value holds, the form of the template stays. */
function fillJson(value: JsonTemplate, values: Values): JsonTemplate {
  if (typeof value === "string") return fill(value, values);
  if (Array.isArray(value)) return value.map((item: JsonTemplate) => fillJson(item, values));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fillJson(inner, values)]));
}

function escapeFor(contentType: string): (text: string) => string {
  if (/[/+]xml\b/i.test(contentType)) return escapeXml;
  if (/[/+]json\b/i.test(contentType)) return (text) => JSON.stringify(text).slice(1, -1);
  if (/x-www-form-urlencoded/i.test(contentType)) return encodeURIComponent;
  return (text) => text;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

function escapeXml(text: string): string {
  // XML 1.0 has no way to write most control characters.
  const writable = text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "");
  return writable.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
