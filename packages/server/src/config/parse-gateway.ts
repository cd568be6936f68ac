import { pathSteps } from "../delivery/answer-path.ts";
import { fill, placeholders, type Values } from "../delivery/fill-template.ts";
import type { ConfigProblem } from "./config-error.ts";
import type { AnswerRule, BodyTemplate, HttpGatewayConfig, JsonTemplate, ReceiptRule } from "./delivery-config.ts";
import { fillPreset, type GatewayPreset } from "./gateway-presets.ts";
import { JsonFields } from "./json-fields.ts";

type Gateway = Omit<HttpGatewayConfig, "name" | "parallel" | "timeoutMs">;

/** A channel of one of the presets: its few fields make an `http` one. */
export function parsePreset(fields: JsonFields, preset: GatewayPreset, problems: ConfigProblem[]): Gateway {
  const values = Object.fromEntries(
    Object.entries(preset.fields).flatMap(([key, { what, optional }]) => {
      // What is missing was told: it must not be missed again where it would be used.
      const value = optional ? fields.optionalText(key, what) : fields.text(key, what) || "missing";
      if (value !== undefined && /[{}<>]/.test(value)) fields.problem(key, "must not contain { } < or >.");
      return value === undefined ? [] : [[key, value]];
    }),
  ) as Record<string, string>;
  const baseUrl = (fields.optionalText("baseUrl", "a URL") ?? preset.baseUrl).replace(/\/+$/, "");
  if (preset.oneOf && !preset.oneOf.some((key) => values[key] !== undefined)) {
    fields.problem("", `needs ${preset.oneOf.join(" or ")}.`);
  }
  const encoded = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, encodeURIComponent(value)]));
  const url = `${baseUrl}${String(fillPreset(preset.path, encoded) ?? "")}`;
  const gateway = fillPreset(preset.gateway, values) as { form?: object };
  const { askedBy, ...words } = preset.receipts;
  const receipts = fields.has("receipts") ? { ...words, secret: readPresetSecret(fields) } : undefined;
  const form = { ...gateway.form, ...(receipts && askedBy !== undefined && { [askedBy]: "{receipts}" }) };
  const written = { ...gateway, form, url, ...(receipts && { receipts }) };
  // Its problems would be ours: only the address is not.
  return parseGateway(new JsonFields(written, fields.path, problems));
}

export function parseGateway(fields: JsonFields): Gateway {
  const method = fields.choice("method", ["POST", "PUT", "GET"], "POST");
  const basicAuth = fields.has("basicAuth") ? readBasicAuth(fields.object("basicAuth")) : null;
  const headers = readHeaders(fields);
  const messageId = readPath(fields, "messageId") ?? null;
  return {
    type: "http",
    medium: fields.choice("medium", ["sms", "email"], "sms"),
    method,
    url: readUrl(fields),
    headers: basicAuth === null ? headers : { Authorization: basicAuth, ...headers },
    body: readBody(fields, method),
    success: readSuccess(fields),
    refused: fields.has("refused") ? readRule(fields.object("refused"), true) : null,
    messageId,
    receipts: fields.has("receipts") ? readReceipts(fields, messageId) : null,
  };
}

/** A preset knows the words of its gateway: only the secret is the operator's. */
function readPresetSecret(fields: JsonFields): unknown {
  const inner = fields.object("receipts");
  const secret = inner.raw("secret");
  inner.refuseOthers();
  return secret;
}

const longEnough = /^[A-Za-z0-9_-]{22,64}$/;

function readReceipts(fields: JsonFields, messageId: string | null): ReceiptRule {
  const inner = fields.object("receipts");
  const secret = inner.text("secret", "22 to 64 random letters and digits");
  if (secret !== "" && !longEnough.test(secret)) {
    inner.problem("secret", "must be 22 to 64 letters, digits, - and _: nobody may guess it.");
  }
  if (messageId === null) fields.problem("messageId", "is missing: receipts name a message by it.");
  const path = (key: "id" | "status") => {
    if (!inner.has(key)) inner.problem(key, "is missing: a path such as messages[0].id.");
    return readPath(inner, key) ?? "";
  };
  const rule = { secret, id: path("id"), status: path("status"), ...readEnds(inner) };
  inner.refuseOthers();
  return rule;
}

function readEnds(fields: JsonFields): Pick<ReceiptRule, "delivered" | "failed"> {
  const list = (key: "delivered" | "failed"): string[] => {
    const values = fields.raw(key);
    const fits =
      Array.isArray(values) && values.every((value) => ["string", "number", "boolean"].includes(typeof value));
    if (!fits) fields.problem(key, 'must be a list of values such as ["0"].');
    return fits ? values.map(String) : [];
  };
  return { delivered: list("delivered"), failed: list("failed") };
}

function readUrl(fields: JsonFields): string {
  const url = fields.text("url", "where the gateway takes messages, https://…");
  if (url === "") return url;
  checkPlaceholders(fields, "url", url);
  const origin = /^https?:\/\/[^/?#{}@\s]+(?=[/?#]|$)/i.exec(url);
  const sample = Object.fromEntries(placeholders.map((name) => [name, "x"])) as Values;
  if (!origin || !URL.canParse(fill(url, sample))) {
    fields.problem("url", "must be a URL such as https://sms.example.org/send, without a user in it.");
    return "";
  }
  return url;
}

function readHeaders(fields: JsonFields): Record<string, string> {
  const headers = fields.texts("headers");
  for (const [name, value] of Object.entries(headers)) {
    const key = `headers.${name}`;
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) fields.problem(key, "is no name of a header.");
    if (/[^\x20-\x7e]/.test(value)) fields.problem(key, "must have ASCII characters alone.");
    checkPlaceholders(fields, key, value, ["id", "tenant"]);
  }
  return headers;
}

function readBasicAuth(fields: JsonFields): string {
  const user = fields.text("user", "the user name");
  const password = fields.text("password", "the password");
  if (user.includes(":")) fields.problem("user", "must not contain a colon.");
  fields.refuseOthers();
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

function readBody(fields: JsonFields, method: string): BodyTemplate | null {
  const kinds = ["json", "form", "text"].filter((kind) => fields.has(kind));
  const json = fields.raw("json") as JsonTemplate | undefined;
  const form = fields.texts("form");
  const text = fields.raw("text");
  const contentType =
    fields.optionalText("contentType", "a media type such as text/xml") ?? "text/plain; charset=utf-8";
  if (kinds.length > 1) fields.problem("", `has ${kinds.join(" and ")}: a request has one body.`);
  if (method === "GET") {
    if (kinds.length > 0) fields.problem(kinds[0] ?? "", "goes with POST or PUT: GET has its values in the url.");
    return null;
  }
  if (json !== undefined) {
    checkPlaceholders(fields, "json", JSON.stringify(json));
    return { kind: "json", value: json };
  }
  if (fields.has("form")) {
    checkPlaceholders(fields, "form", Object.values(form).join("\n"));
    return { kind: "form", fields: form };
  }
  if (typeof text === "string" && text !== "") {
    checkPlaceholders(fields, "text", text);
    return { kind: "text", contentType, text };
  }
  if (text !== undefined) return fields.problem("text", "must be a text.") ?? null;
  return fields.problem("", "needs a body: json, form or text.") ?? null;
}

function checkPlaceholders(
  fields: JsonFields,
  key: string,
  template: string,
  allowed: readonly string[] = placeholders,
) {
  const strange = [...template.matchAll(/\{([A-Za-z]+)\}/g)].find(([, name]) => !allowed.includes(name ?? ""));
  if (!strange && template.includes("{receipts}") && !fields.has("receipts")) {
    fields.problem(key, "has {receipts}, but no receipts are configured.");
  }
  if (!strange) return;
  const names = allowed.map((name) => `{${name}}`).join(", ");
  fields.problem(key, `has {${strange[1]}}, which is not filled in. Known here: ${names}.`);
}

function readSuccess(fields: JsonFields): HttpGatewayConfig["success"] {
  if (!fields.has("success")) return { status: { from: 200, to: 299 }, answer: null };
  const inner = fields.object("success");
  const range = inner.raw("status") ?? [200, 299];
  const [from, to, ...more] = (Array.isArray(range) ? range : []) as unknown[];
  const isStatus = (value: unknown): value is number =>
    Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 599;
  const fits = isStatus(from) && isStatus(to) && from <= to && more.length === 0;
  if (!fits) inner.problem("status", "must be a range such as [200, 299].");
  const answer = inner.has("path") ? readRule(inner, false) : null;
  if (!inner.has("path")) inner.refuseOthers();
  return { status: fits ? { from, to } : { from: 200, to: 299 }, answer };
}

/** `path` with `in`, a list of values; without it the value only has to be there. */
function readRule(fields: JsonFields, needsValues: boolean): AnswerRule | null {
  const path = readPath(fields, "path");
  const values = fields.raw("in");
  fields.refuseOthers();
  if (path === undefined) return fields.has("path") ? null : (fields.problem("path", "is missing.") ?? null);
  if (values === undefined && !needsValues) return { path };
  const isList = Array.isArray(values) && values.length > 0;
  if (isList && values.every((value) => ["string", "number", "boolean"].includes(typeof value))) {
    return { path, in: values as (string | number | boolean)[] };
  }
  return fields.problem("in", 'must be a list of values such as ["0"].') ?? null;
}

function readPath(fields: JsonFields, key: string): string | undefined {
  const path = fields.optionalText(key, "a path such as messages[0].id");
  if (path === undefined || pathSteps(path)) return path;
  return fields.problem(key, "must be a path such as messages[0].id.");
}
