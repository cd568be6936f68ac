import type { AuthAdapter, SignedIn } from "../adapters/adapter.ts";
import { type ConformanceCase, claim, rejection } from "./conformance.ts";

/** An adapter to be tried. */
export interface AdapterSubject {
  /** Makes an adapter that nobody has signed in through, not yet initialized. Usually with an AuthManager of its own. */
  create(): AuthAdapter | Promise<AuthAdapter>;
  /** Signs somebody in, by whichever method the adapter has. Without it the cases that need a session do not apply. */
  signIn?(adapter: AuthAdapter): Promise<SignedIn>;
  /** Takes the network away from the adapter and gives it back. Without it the offline cases do not apply. */
  readonly network?: { down(): void; up(): void };
}

const forged = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"admin","exp":9999999999}')}.`.replaceAll("=", "");

/**
 * What every `AuthAdapter` must do.
 *
 * @example
 * for (const { name, run, skip } of adapterConformance({ create: () => new MyAdapter(config), signIn: (a) => a.login(me) })) {
 *   test(name, { skip }, run);
 * }
 */
export function adapterConformance(subject: AdapterSubject): ConformanceCase[] {
  const { network } = subject;
  const noSignIn = subject.signIn ? undefined : "the subject has no signIn";
  const noNetwork = network ? undefined : "the subject has no network to take away";

  async function open(): Promise<AuthAdapter> {
    const adapter = await subject.create();
    await adapter.initialize();
    return adapter;
  }
  const signIn = (adapter: AuthAdapter) => (subject.signIn as (adapter: AuthAdapter) => Promise<SignedIn>)(adapter);

  function define(name: string, run: () => Promise<void>, skip?: string): ConformanceCase {
    return skip === undefined ? { name, run } : { name, run, skip };
  }
  async function whileOffline<T>(work: () => Promise<T>): Promise<T> {
    network?.down();
    try {
      return await work();
    } finally {
      network?.up();
    }
  }

  return [
    define("can be initialized twice, and by two at once", async () => {
      const adapter = await open();
      await Promise.all([adapter.initialize(), adapter.initialize()]);
    }),
    define("has nobody signed in at first", async () => {
      claim((await (await open()).isAuthenticated()) === false, "isAuthenticated is false");
    }),
    define("calls nothing valid that is no token of its provider", async () => {
      const adapter = await open();
      for (const token of ["", "not a token", "a.b.c", forged]) {
        const verdict = await adapter.validateToken(token).catch(() => false);
        claim(verdict === false, `validateToken(${JSON.stringify(token)}) is false`);
      }
    }),
    define("login gives a username and a token, or rejects with an error that says what to do", async () => {
      const adapter = await open();
      const error = await rejection(adapter.login({ username: "nobody", password: "wrong" }));
      if (error === undefined) return;
      claim(error instanceof Error && error.message.length > 10, "login rejects with an Error and a sentence");
    }),
    define("logout can be done with nobody signed in, and twice", async () => {
      const adapter = await open();
      await adapter.logout();
      await adapter.logout();
      claim((await adapter.isAuthenticated()) === false, "isAuthenticated is still false");
    }),
    define(
      "a sign-in gives a username and a token that it then calls valid",
      async () => {
        const adapter = await open();
        const { username, token } = await signIn(adapter);
        claim(typeof username === "string" && username !== "", "the username is a text");
        claim(typeof token === "string" && token !== "", "the token is a text");
        claim(username !== token, "the username is not the token");
        claim((await adapter.validateToken(token)) === true, "validateToken(token) is true");
        claim((await adapter.isAuthenticated()) === true, "isAuthenticated is true");
        const last = token.at(-5) === "A" ? "B" : "A";
        const altered = await adapter
          .validateToken(`${token.slice(0, -5)}${last}${token.slice(-4)}`)
          .catch(() => false);
        claim(altered === false, "a token with one letter changed is not valid");
      },
      noSignIn,
    ),
    define(
      "after logout nobody is signed in",
      async () => {
        const adapter = await open();
        await signIn(adapter);
        await adapter.logout();
        claim((await adapter.isAuthenticated()) === false, "isAuthenticated is false");
      },
      noSignIn,
    ),
    define(
      "offline, a good token is never called invalid",
      async () => {
        const adapter = await open();
        const { token } = await signIn(adapter);
        const verdict = await whileOffline(() => adapter.validateToken(token).catch(() => "rejected"));
        claim(verdict !== false, "validateToken is true, or rejects");
      },
      noSignIn ?? noNetwork,
    ),
    define(
      "offline, initialize and logout do not hang, and a sign-in rejects",
      async () => {
        const adapter = await open();
        await signIn(adapter);
        await whileOffline(async () => {
          await rejection(adapter.initialize());
          await adapter.logout();
          const attempt = async () => signIn(await open());
          claim((await rejection(attempt())) instanceof Error, "a sign-in rejects with an Error");
        });
        claim((await adapter.isAuthenticated()) === false, "nobody is signed in after the logout");
      },
      noSignIn ?? noNetwork,
    ),
  ];
}
