import { isLoopbackHost } from "./address.ts";
import type { ConfigProblem } from "./config-error.ts";
import type { ChannelConfig, SmppConfig, SmtpConfig } from "./delivery-config.ts";
import { gatewayPresets } from "./gateway-presets.ts";
import { JsonFields } from "./json-fields.ts";
import { parseGateway, parsePreset } from "./parse-gateway.ts";
import { didYouMean } from "./suggest.ts";

const variable = "FIELDGATE_DELIVERY";
export const channelTypes = ["smtp", "smpp", "http", ...Object.keys(gatewayPresets)];
/** Below the time for which a node holds a message. */
const longestSeconds = 30;

type ReadFile = (path: string) => string;

/** The channels from JSON, or from the file that `@FILE` names. */
export function parseDelivery(
  text: string,
  readFile: ReadFile,
): { readonly channels: readonly ChannelConfig[]; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const fail = (sentence: string) => ({ channels: [], problems: [{ variable, sentence }] });
  let json = text;
  if (text.startsWith("@")) {
    try {
      json = readFile(text.slice(1));
    } catch (error) {
      const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
      return fail(`names ${text.slice(1)}, which cannot be read (${reason}).`);
    }
  }
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch {
    // The reader's own message would repeat a piece of it, perhaps a password.
    return fail('must be JSON such as [{"type":"smtp","url":"smtp://…","from":"…"}], or @FILE with such JSON.');
  }
  if (!Array.isArray(list) || list.length === 0) return fail("must be a list of channels, in the order to try them.");
  const channels = list.map((item, index) => parseChannel(item, `${variable}[${index}]`, readFile, problems));
  refuseTwins(channels, problems);
  return { channels: channels.filter((channel) => channel !== null), problems };
}

function parseChannel(
  item: unknown,
  path: string,
  readFile: ReadFile,
  problems: ConfigProblem[],
): ChannelConfig | null {
  const fields = new JsonFields(item, path, problems);
  const type = fields.text("type", `one of ${channelTypes.join(", ")}`);
  const preset = Object.hasOwn(gatewayPresets, type) ? gatewayPresets[type] : undefined;
  if (type === "" || (!preset && !channelTypes.includes(type))) {
    if (type !== "") {
      fields.problem("type", `is not known.${didYouMean(type, channelTypes)} Known here: ${channelTypes.join(", ")}.`);
    }
    return null;
  }
  const name = fields.optionalText("name", "a short name") ?? type;
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name)) {
    fields.problem("name", "must be a short name in lower-case letters, digits and hyphens.");
  }
  const common = {
    name,
    parallel: fields.whole("parallel", { min: 1, max: 100, fallback: type === "smtp" ? 5 : 10 }),
    timeoutMs: fields.whole("timeout", { min: 1, max: longestSeconds, fallback: 15 }) * 1000,
  };
  const own =
    type === "smtp"
      ? parseSmtp(fields, readFile)
      : type === "smpp"
        ? parseSmpp(fields, readFile)
        : preset
          ? parsePreset(fields, preset, problems)
          : parseGateway(fields);
  fields.refuseOthers();
  return { ...common, ...own };
}

function parseSmtp(fields: JsonFields, readFile: ReadFile): Omit<SmtpConfig, "name" | "parallel" | "timeoutMs"> {
  const url = readServerUrl(fields, {
    schemes: ["smtp", "smtps"],
    example: "smtp://user:password@mail.example.org:587",
  });
  const implicit = url?.protocol === "smtps:";
  const host = hostOf(url);
  // What does not leave this machine needs no TLS.
  const choice = fields.choice("tls", ["required", "none"], isLoopbackHost(host) && !implicit ? "none" : "required");
  const tls = implicit ? "implicit" : choice === "none" ? "none" : "starttls";
  const auth = url?.username ? { user: decode(url.username), password: decode(url.password) } : null;
  if (implicit && choice === "none") fields.problem("tls", "cannot be none: smtps:// is TLS.");
  if (tls === "none" && auth && !isLoopbackHost(host)) {
    fields.problem("tls", "cannot be none with a password: it would travel in the clear.");
  }
  if (auth?.password === "") fields.problem("url", "has a user but no password.");
  const from = fields.text("from", "the address that mails come from");
  if (from !== "" && !/^(?:[^<>]*<)?[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+>?$/.test(from)) {
    fields.problem("from", "must be an address such as Programme <no-reply@example.org>.");
  }
  const port = Number(url?.port) || (implicit ? 465 : 587);
  return { type: "smtp", medium: "email", host, port, tls, auth, from, ca: readCa(fields, readFile) };
}

function parseSmpp(fields: JsonFields, readFile: ReadFile): Omit<SmppConfig, "name" | "parallel" | "timeoutMs"> {
  const url = readServerUrl(fields, { schemes: ["smpp", "smpps", "ssmpp"], example: "smpp://smsc.example.org:2775" });
  if (url && (url.username || url.password)) {
    fields.problem("url", "must not hold a user: systemId and password have their own fields.");
  }
  const tls = url !== null && url.protocol !== "smpp:";
  const systemId = fields.text("systemId", "the system_id that the telco gave you");
  const password = fields.text("password", "the password that the telco gave you");
  if (systemId.length > 15) fields.problem("systemId", "must have at most 15 characters.");
  for (const [key, value] of Object.entries({ systemId, password })) {
    if (/[^\x20-\x7e]/.test(value)) fields.problem(key, "must have ASCII characters alone.");
  }
  const from = fields.text("from", "the sender: a number, a short code, or up to 11 letters");
  if (from !== "" && !/^(?:\+?\d{3,15}|[A-Za-z0-9 ._-]{1,11})$/.test(from)) {
    fields.problem("from", "must be a number, a short code, or up to 11 letters.");
  }
  const guess = typeOfSender(from);
  return {
    type: "smpp",
    medium: "sms",
    host: hostOf(url),
    port: Number(url?.port) || (tls ? 3550 : 2775),
    tls,
    systemId,
    password,
    systemType: fields.optionalText("systemType", "the system_type that the telco gave you") ?? "",
    from: {
      address: from.replace(/^\+/, ""),
      ton: fields.whole("fromTon", { min: 0, max: 6, fallback: guess.ton }),
      npi: fields.whole("fromNpi", { min: 0, max: 18, fallback: guess.npi }),
    },
    enquireMs: fields.whole("enquire", { min: 5, max: 300, fallback: 30 }) * 1000,
    messageIds: fields.choice("messageIds", ["same", "hex"], "same"),
    ca: readCa(fields, readFile),
  };
}

/** What SMPP calls type and plan of a number: letters, an international number, or a short code. */
function typeOfSender(from: string): { ton: number; npi: number } {
  if (/[A-Za-z]/.test(from)) return { ton: 5, npi: 0 };
  return from.replace(/\D/g, "").length > 6 ? { ton: 1, npi: 1 } : { ton: 3, npi: 0 };
}

function readServerUrl(fields: JsonFields, { schemes, example }: { schemes: string[]; example: string }): URL | null {
  const text = fields.text("url", `where the server is, such as ${example}`);
  const url = URL.parse(text);
  const fits = url && schemes.includes(url.protocol.slice(0, -1)) && url.hostname !== "" && url.search === "";
  if (fits && /^\/?$/.test(url.pathname)) return url;
  if (text !== "") fields.problem("url", `must be like ${example}. Special characters in a password need %-encoding.`);
  return null;
}

const hostOf = (url: URL | null) => (url?.hostname ?? "").replace(/^\[(.*)\]$/, "$1");

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone % is a character like any other.
    return text;
  }
}

function readCa(fields: JsonFields, readFile: ReadFile): string | null {
  const file = fields.optionalText("ca", "a PEM file with the authority's certificate");
  if (file === undefined) return null;
  try {
    const pem = readFile(file);
    if (pem.includes("-----BEGIN CERTIFICATE-----")) return pem;
    return fields.problem("ca", `names ${file}, which holds no PEM certificate.`) ?? null;
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    return fields.problem("ca", `names ${file}, which cannot be read (${reason}).`) ?? null;
  }
}

function refuseTwins(channels: readonly (ChannelConfig | null)[], problems: ConfigProblem[]): void {
  channels.forEach((channel, index) => {
    if (channel && channels.findIndex((other) => other?.name === channel.name) < index) {
      problems.push({ variable: `${variable}[${index}].name`, sentence: "is the name of another channel already." });
    }
  });
}
