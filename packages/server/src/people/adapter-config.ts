import { type AdapterConfig, type AdapterType, adapterTypes, oidcAliases } from "@fieldgate/contract";
import { isLoopbackHost } from "../config/address.ts";
import { isPlainObject } from "../config/bounds.ts";
import { Fault } from "../fault.ts";

export interface UrlRules {
  /** Whether plain http to this machine is accepted, as development needs it. */
  readonly loopbackHttp: boolean;
}

interface AdapterShape {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

const oidcOptional = ["redirect_uri", "post_logout_redirect_uri", "scope", "audience", "prompt", "session", "display"];

const shapes: Record<AdapterType, AdapterShape> = {
  oidc_a: { required: ["authority", "client_id", "organization"], optional: oidcOptional },
  oidc_b: { required: ["authority", "client_id", "realm"], optional: oidcOptional },
  otp: { required: ["serverUrl"], optional: [] },
  id: { required: ["serverUrl"], optional: [] },
};

/** The names of the product family each key stands for, accepted on input. */
const aliases: Readonly<Record<string, AdapterType>> = oidcAliases;

const urlFields = new Set(["authority", "serverUrl", "redirect_uri", "post_logout_redirect_uri"]);
const maxFieldLength = 2048;

const refuse = (field: string, message: string): Fault => new Fault("invalid_request", { field, message });

function checkUrl(field: string, value: string, rules: UrlRules): void {
  const url = URL.parse(value);
  if (!url) throw refuse(field, `${field} must be a URL such as https://login.example.org, and "${value}" is not.`);
  const loopbackHttp = rules.loopbackHttp && url.protocol === "http:" && isLoopbackHost(url.hostname);
  if (url.protocol !== "https:" && !loopbackHttp) {
    throw refuse(
      field,
      `${field} must start with https://. Plain http is accepted for this machine in development only.`,
    );
  }
  if (url.username || url.password) throw refuse(field, `${field} must not hold a username or a password.`);
  if (url.hash || url.search) throw refuse(field, `${field} must not have a query or a fragment (? or #).`);
}

function parseFields(type: AdapterType, input: unknown, path: string, rules: UrlRules): Record<string, string> {
  if (!isPlainObject(input)) throw refuse(path, `${path} must be an object with the fields of ${type}.`);
  const { required, optional } = shapes[type];
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(input)) {
    const field = `${path}.${name}`;
    if (/secret|password|private/i.test(name)) {
      throw refuse(
        field,
        `${field} looks like a secret. Adapter fields are public: every client reads them. Leave it out.`,
      );
    }
    if (!required.includes(name) && !optional.includes(name)) {
      throw refuse(field, `${field} is not a field of ${type}. It has ${[...required, ...optional].join(", ")}.`);
    }
    if (typeof value !== "string" || value.trim() === "")
      throw refuse(field, `${field} must be a text that is not empty.`);
    if (value.length > maxFieldLength) throw refuse(field, `${field} is longer than ${maxFieldLength} characters.`);
    if (/\p{Cc}/u.test(value)) throw refuse(field, `${field} must not hold control characters.`);
    if (urlFields.has(name)) checkUrl(field, value.trim(), rules);
    if (name === "session" && value !== "fieldgate" && value !== "provider") {
      throw refuse(field, `${field} must be fieldgate or provider.`);
    }
    if (name === "display" && value !== "redirect" && value !== "popup") {
      throw refuse(field, `${field} must be redirect or popup.`);
    }
    fields[name] = value.trim();
  }
  const missing = required.filter((name) => !(name in fields));
  if (missing.length > 0) {
    throw refuse(`${path}.${missing[0]}`, `${path} of ${type} also needs ${missing.join(" and ")}.`);
  }
  if (fields.audience !== undefined && fields.audience === fields.client_id) {
    throw refuse(
      `${path}.audience`,
      `${path}.audience is the client_id: an ID token would pass for an access token. Name the API instead.`,
    );
  }
  return fields;
}

/** One `{ type, fields }` of the specification: aliases become the canonical key, each field is checked. */
export function parseAdapterConfig(input: unknown, path: string, rules: UrlRules): AdapterConfig {
  if (!isPlainObject(input)) throw refuse(path, `${path} must be an object with type and fields.`);
  const unknown = Object.keys(input).find((key) => key !== "type" && key !== "fields");
  if (unknown !== undefined)
    throw refuse(`${path}.${unknown}`, `${path}.${unknown} is not known: use type and fields.`);
  const { type: given } = input;
  const type =
    typeof given === "string" && Object.hasOwn(aliases, given)
      ? aliases[given]
      : adapterTypes.find((known) => known === given);
  if (!type) throw refuse(`${path}.type`, `${path}.type must be one of ${adapterTypes.join(", ")}.`);
  return { type, fields: parseFields(type, input.fields, `${path}.fields`, rules) };
}

/** The list of a tenant: at most one of each type, because the type is the key that clients select by. */
export function parseAdapterConfigs(input: unknown, path: string, rules: UrlRules): AdapterConfig[] {
  if (!Array.isArray(input)) throw refuse(path, `${path} must be a list.`);
  const seen = new Set<AdapterType>();
  return input.map((item, index) => {
    const adapter = parseAdapterConfig(item, `${path}[${index}]`, rules);
    if (seen.has(adapter.type)) {
      throw refuse(`${path}[${index}].type`, `${path} has ${adapter.type} twice. Keep one of them.`);
    }
    seen.add(adapter.type);
    return adapter;
  });
}
