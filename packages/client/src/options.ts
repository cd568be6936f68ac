import type { KeyDatabase } from "./keys/key-database.ts";
import { checkUrl } from "./urls.ts";

/** Everything has a working default. Durations are seconds. */
export interface AuthManagerOptions {
  /** Other origins that `fetch` may send the token to, such as "https://sync.example.org". */
  readonly trustedOrigins?: readonly string[];
  /**
   * How long somebody counts as signed in while the server cannot be asked, from the last renewal. 30 days; never longer than the
   * session itself. A citizen's session has no renewal: it counts as long as its token.
   */
  readonly offlineGrace?: number;
  /** Between regular checks: 300. They are spread by a fifth. 0 turns them off. */
  readonly checkInterval?: number;
  /** How old a verdict of check-token may be when a token is used: 60. */
  readonly verdictAge?: number;
  /** How long an answer may take: 10. */
  readonly timeout?: number;
  /** How long to wait for another tab's refresh before doing it here: 5. */
  readonly lockWait?: number;
  /** Where validation runs. Told by itself: a page or a browser's worker is a frontend, all else a backend. */
  readonly environment?: "frontend" | "backend";
  /** Where keys are kept, instead of the storage's or the platform's own place. */
  readonly keys?: KeyDatabase;
  /**
   * Shows the page of an identity provider to the person, instead of leaving this page for it; in Node, it might open a browser.
   * Where it comes to know the address that the provider then sends the person to, it resolves with that.
   */
  readonly navigate?: (url: string) => string | undefined | Promise<string | undefined>;
  readonly fetch?: typeof fetch;
  /** The device's clock in ms. */
  readonly now?: () => number;
}

/** The options, resolved; durations are milliseconds here. */
export type Settings = Required<Omit<AuthManagerOptions, "keys" | "navigate">> & Pick<AuthManagerOptions, "navigate">;

export function resolveOptions(options: AuthManagerOptions): Settings {
  const isPage = "document" in globalThis || "WorkerGlobalScope" in globalThis;
  const {
    trustedOrigins = [],
    offlineGrace = 30 * 86_400,
    checkInterval = 300,
    verdictAge = 60,
    timeout = 10,
    lockWait = 5,
    environment = isPage ? "frontend" : "backend",
    // Looked up at each call, so that a page may still wrap the global one.
    fetch = (input, init) => globalThis.fetch(input, init),
    now = Date.now,
  } = options;
  return {
    ...options,
    trustedOrigins: trustedOrigins.map((url, index) => checkUrl(`trustedOrigins[${index}]`, url)),
    offlineGrace: offlineGrace * 1000,
    checkInterval: checkInterval * 1000,
    verdictAge: verdictAge * 1000,
    timeout: timeout * 1000,
    lockWait: lockWait * 1000,
    environment,
    fetch,
    now,
  };
}
