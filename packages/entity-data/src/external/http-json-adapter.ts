import { ConfigurationError } from "@fieldgate/client";
import { EntityDataError } from "../errors.ts";
import type { ExternalChange, ExternalResult, ExternalSyncAdapter } from "./external-sync-adapter.ts";
import { applyMapping, badPath, type Mapping } from "./mapping.ts";

export interface HttpJsonOptions {
  /** Names the system. */
  readonly name: string;
  /** Where to; a function for a system that has an address for each thing. */
  readonly url: string | ((change: ExternalChange) => string);
  /** POST by default. */
  readonly method?: "POST" | "PUT" | "PATCH" | ((change: ExternalChange) => "POST" | "PUT" | "PATCH");
  /** Such as the system's own token. Asked for each request. */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>;
  /** What is sent; event and entity as they are by default. */
  readonly mapping?: Mapping;
  /** Which changes the system wants; all by default. */
  readonly wants?: (change: ExternalChange) => boolean;
  /** How long an answer may take, in ms: 30,000. */
  readonly timeout?: number;
  readonly fetch?: typeof fetch;
}

/**
 * Forwards to any system that takes JSON over HTTP, one request for each event. The event's id is its `Idempotency-Key`; 2xx means
 * that the system has it, 409 that it had it before. 408, 425, 429, 5xx and silence are tried again at the next sync, and so are 401
 * and 403, which speak of the token rather than of the event. Every other answer is the event's own failure.
 *
 * @example
 * new HttpJsonAdapter({
 *   name: "registry",
 *   url: "https://registry.example.org/people",
 *   mapping: { reference: "event.entityId", firstName: "entity.data.names.given" },
 *   wants: ({ event }) => event.type === "create-individual",
 * });
 */
export class HttpJsonAdapter implements ExternalSyncAdapter {
  readonly name: string;
  readonly #options: HttpJsonOptions;

  constructor(options: HttpJsonOptions) {
    const { name, url, mapping = {} } = options;
    if (!name) throw new ConfigurationError("name", "names no system");
    if (typeof url === "string" && !URL.canParse(url)) throw new ConfigurationError("url", `"${url}" is not a URL`);
    const bad = badPath(mapping);
    if (bad !== undefined) throw new ConfigurationError("mapping", `"${bad}" is no path of a field`);
    this.name = name;
    this.#options = options;
  }

  async send(
    changes: readonly ExternalChange[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<ExternalResult[]> {
    const results: ExternalResult[] = [];
    for (const change of changes) {
      const { id } = change.event;
      if (this.#options.wants && !this.#options.wants(change)) results.push({ id, status: "skipped" });
      else results.push(await this.#sendOne(change, signal));
    }
    return results;
  }

  async #sendOne(change: ExternalChange, signal: AbortSignal): Promise<ExternalResult> {
    const { url, method = "POST", mapping, timeout = 30_000, headers, fetch = globalThis.fetch } = this.#options;
    const { id } = change.event;
    const response = await fetch(typeof url === "function" ? url(change) : url, {
      method: typeof method === "function" ? method(change) : method,
      headers: { "Content-Type": "application/json", "Idempotency-Key": id, ...(await headers?.()) },
      body: JSON.stringify(mapping ? applyMapping(mapping, change) : change),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
      redirect: "error",
    }).catch((cause) => {
      signal.throwIfAborted();
      throw new EntityDataError("unreachable", `${this.name} did not answer. Sync again later.`, { cause });
    });
    const { status } = response;
    const text = (await response.text().catch(() => "")).slice(0, 200);
    if (response.ok || status === 409) return { id, status: "sent" };
    if (status >= 500 || [401, 403, 408, 425, 429].includes(status)) {
      throw new EntityDataError("unreachable", `${this.name} cannot take anything now (${status}).`, { status });
    }
    return { id, status: "failed", message: `${this.name} answered ${status}: ${text}` };
  }
}
