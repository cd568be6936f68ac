/** As much of autocannon as the benchmark uses. */
declare module "autocannon" {
  namespace autocannon {
    interface Request {
      readonly method?: "GET" | "POST";
      readonly path?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }

    interface Client {
      setRequests(requests: Request[]): void;
    }

    interface Options {
      readonly url: string;
      readonly connections: number;
      /** Seconds. */
      readonly duration: number;
      readonly setupClient?: (client: Client) => void;
    }

    interface Result {
      /** Seconds it really took. */
      readonly duration: number;
      readonly "2xx": number;
      readonly non2xx: number;
      readonly errors: number;
      readonly timeouts: number;
      readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
      readonly latency: { readonly p99: number };
    }
  }

  function autocannon(options: autocannon.Options): PromiseLike<autocannon.Result>;
  export = autocannon;
}
