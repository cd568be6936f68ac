/** What happens to a request on its way. */
export type Fate =
  | "deliver"
  /** It never arrives. */
  | "lose-request"
  /** The server does its work, and its answer never arrives. */
  | "lose-answer"
  /** Somebody else answers: a page to sign in to a hotel's network. */
  | "portal"
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown };

export interface SeenRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** A `fetch` to real servers over a network that a test can break. */
export class FaultyNetwork {
  readonly seen: SeenRequest[] = [];
  /** Decides the fate of a request; all are delivered by default. */
  fate: (path: string) => Fate = () => "deliver";
  #gate: Promise<void> | undefined;

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const text = await request.clone().text();
    const body = text.startsWith("{") ? JSON.parse(text) : {};
    this.seen.push({ path: pathname, method: request.method, headers: request.headers, body });
    const fate = this.fate(pathname);
    if (fate === "lose-request") throw new TypeError("fetch failed");
    if (fate === "portal") return new Response("<html>Welcome to the hotel</html>", { status: 200 });
    if (typeof fate === "object") {
      return Response.json(fate.body ?? {}, { status: fate.status, headers: fate.headers ?? {} });
    }
    const response = await fetch(request);
    await this.#gate;
    if (fate === "lose-answer") throw new TypeError("fetch failed");
    return response;
  };

  goDown(): void {
    this.fate = () => "lose-request";
  }

  comeBack(): void {
    this.fate = () => "deliver";
  }

  /** Holds every answer back until the returned function is called. */
  holdAnswers(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return () => {
      this.#gate = undefined;
      resolve();
    };
  }

  to(path: string): SeenRequest[] {
    return this.seen.filter((request) => request.path === path);
  }
}

export const paths = {
  login: "/api/users/login",
  refresh: "/api/users/refresh",
  check: "/api/users/check-token",
  logout: "/api/users/logout",
  me: "/api/users/me",
};
