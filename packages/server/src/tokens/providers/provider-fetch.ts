import { lookup as systemLookup } from "node:dns";
import { Resolver } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isLoopbackHost } from "../../config/address.ts";
import { isPublicAddress } from "./public-address.ts";

/**
 * Asks a server that a tenant named, which may be anyone, for the JSON object at an address. Rejects with
 * `ProviderFetchError` for everything else that can happen.
 */
export type ProviderFetch = (url: string, options: ProviderFetchOptions) => Promise<Record<string, unknown>>;

export interface ProviderFetchOptions {
  /** When it must be over, whatever happens. */
  readonly signal: AbortSignal;
  /** Sends a form, with the credentials of a client. */
  readonly form?: { readonly fields: Readonly<Record<string, string>>; readonly authorization: string };
}

export type FetchFailure =
  | "url_refused"
  | "address_refused"
  | "not_found"
  | "unreachable"
  | "timed_out"
  | "redirected"
  | "status"
  | "too_large"
  | "not_json"
  | "wrong_issuer"
  | "unusable_keys";

/** Why a provider gave no answer that can be used: for the log and for `doctor`, never for a client. */
export class ProviderFetchError extends Error {
  override readonly name = "ProviderFetchError";
  readonly reason: FetchFailure;

  constructor(reason: FetchFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

export interface ProviderFetchSettings {
  /** Hosts that may have any address, in lower case. */
  readonly internalHosts: readonly string[];
  /** Whether this machine may be asked, over plain http too: for development. */
  readonly loopback: boolean;
  /** The addresses of a name; for tests. */
  readonly resolve?: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
}

const mostBytes = 256 * 1024;

/**
 * Each request has a connection of its own, so that nobody waits behind another's. Names are resolved without the
 * thread pool, which everyone shares, and the address that was checked is the one that is connected to.
 */
export function createProviderFetch(settings: ProviderFetchSettings): ProviderFetch {
  const { internalHosts, loopback, resolve = resolvePublicly } = settings;

  return async (address, { signal, form }) => {
    const url = URL.parse(address);
    if (!url || url.username || url.password) throw refused(address);
    const host = url.hostname.toLowerCase();
    const isInternal = internalHosts.includes(host) || (loopback && isLoopbackHost(host));
    if (url.protocol !== "https:" && !(loopback && url.protocol === "http:" && isLoopbackHost(host))) {
      throw refused(address);
    }
    const literal = host.replace(/^\[(.*)\]$/, "$1");
    // For a literal no lookup is made. The URL parser has turned 0x7f.1 and its like into plain addresses.
    if (isIP(literal) && !isInternal && !isPublicAddress(literal)) throw notPublic(host);
    const lookup = isInternal ? systemLookup : guardedLookup(resolve, signal);
    const options = { method: form ? "POST" : "GET", headers: headersOf(form), agent: false, lookup } as RequestOptions;
    const response = await send(url, options, form && new URLSearchParams(form.fields).toString(), signal);
    return readObject(response, url, signal);
  };
}

const refused = (url: string) =>
  new ProviderFetchError("url_refused", `${url} is not an https address that may be asked.`);
const notPublic = (host: string) =>
  new ProviderFetchError(
    "address_refused",
    `${host} is not on the public internet. If it is meant, the deployment lists it in FIELDGATE_INTERNAL_HOSTS.`,
  );

function headersOf(form: ProviderFetchOptions["form"]): Record<string, string> {
  const common = { accept: "application/json", "accept-encoding": "identity", "user-agent": "Fieldgate" };
  if (!form) return common;
  const { authorization } = form;
  return { ...common, authorization, "content-type": "application/x-www-form-urlencoded" };
}

/** Node connects to what this answers, and to nothing else. */
function guardedLookup(
  resolve: (host: string, signal: AbortSignal) => Promise<readonly string[]>,
  signal: AbortSignal,
): LookupFunction {
  return (host, options, callback) => {
    resolve(host, signal).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) {
          callback(new ProviderFetchError("not_found", `${host} has no address.`), "");
        } else if (!addresses.every(isPublicAddress)) {
          callback(notPublic(host), "");
        } else if (options.all) {
          callback(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          );
        } else callback(null, first, isIP(first));
      },
      (error: unknown) => callback(error as Error, ""),
    );
  };
}

async function resolvePublicly(host: string, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return found.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function send(
  url: URL,
  options: RequestOptions,
  body: string | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const start = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = start(url, { ...options, signal }, resolve);
    request.on("error", (error) => reject(failure(error, url, signal)));
    request.end(body);
  });
}

function failure(error: unknown, url: URL, signal: AbortSignal): ProviderFetchError {
  if (error instanceof ProviderFetchError) return error;
  if (signal.aborted) return new ProviderFetchError("timed_out", `${url.origin} did not answer in time.`, error);
  return new ProviderFetchError("unreachable", `${url.origin} cannot be reached.`, error);
}

async function readObject(response: IncomingMessage, url: URL, signal: AbortSignal): Promise<Record<string, unknown>> {
  const { statusCode: status = 0, headers } = response;
  try {
    if (status >= 300 && status < 400) throw new ProviderFetchError("redirected", `${url} leads elsewhere.`);
    if (status !== 200) throw new ProviderFetchError("status", `${url} answered ${status}.`);
    if ((headers["content-encoding"] ?? "identity") !== "identity") {
      throw new ProviderFetchError("not_json", `${url} answered in an encoding that was not asked for.`);
    }
    return parseObject(await readUpTo(response, url), url);
  } catch (error) {
    throw failure(error, url, signal);
  } finally {
    response.destroy();
  }
}

async function readUpTo(response: IncomingMessage, url: URL): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > mostBytes) throw new ProviderFetchError("too_large", `${url} answered more than ${mostBytes} bytes.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function parseObject(bytes: Buffer, url: URL): Record<string, unknown> {
  const notJson = (cause?: unknown) =>
    new ProviderFetchError("not_json", `${url} did not answer a JSON object.`, cause);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw notJson(cause);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw notJson();
  return value as Record<string, unknown>;
}
