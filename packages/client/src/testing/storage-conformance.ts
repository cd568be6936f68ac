import type { AuthStorageAdapter, StoredSession } from "../storage/storage.ts";
import { type ConformanceCase, claim, claimEqual } from "./conformance.ts";

/** A storage to be tried. */
export interface StorageSubject {
  /**
   * Makes a storage of a tenant, not yet initialized. Two that are made for one tenant must see each other's sessions, as two
   * tabs or processes would, unless `shared` is false.
   */
  create(tenantId: string): AuthStorageAdapter | Promise<AuthStorageAdapter>;
  /** False for a storage whose sessions end with the instance, such as one in memory. */
  readonly shared?: boolean;
}

const base: StoredSession = {
  version: 4_503_599_627_370_495,
  provider: "otp",
  username: "amina",
  token: "header.payload.signature",
  server: "https://auth.example.org",
  userId: "u-1",
  signedInAt: 1_700_000_000_000,
  renewedAt: 1_700_000_000_000,
  expiresAt: 1_700_000_600_000,
  refreshToken: "family.1.mac",
  refreshExpiresAt: 1_703_000_000_000,
  keyId: "key-1",
  skew: -86_400_000,
};
const session = (version: number, token = `token-${version}`): StoredSession => ({ ...base, version, token });

/**
 * What every `AuthStorageAdapter` must do. Each case works on tenants of its own, so the subject needs no cleaning between them.
 *
 * @example
 * for (const { name, run, skip } of storageConformance({ create: (tenantId) => new MyStorage(tenantId) })) {
 *   test(name, { skip }, run);
 * }
 */
export function storageConformance(subject: StorageSubject): ConformanceCase[] {
  const notShared = subject.shared === false ? "sessions of this storage end with the instance" : undefined;
  const opened = new Set<AuthStorageAdapter>();

  async function open(tenantId: string): Promise<AuthStorageAdapter> {
    const storage = await subject.create(tenantId);
    opened.add(storage);
    await storage.initialize();
    return storage;
  }
  async function close(storage: AuthStorageAdapter): Promise<void> {
    opened.delete(storage);
    await storage.close();
  }
  const newTenant = () => `t-${Math.random().toString(36).slice(2, 12)}x`;

  function define(name: string, body: (storage: AuthStorageAdapter) => Promise<void>, skip?: string): ConformanceCase {
    const run = async () => {
      try {
        await body(await open(newTenant()));
      } finally {
        for (const storage of opened) {
          await storage.remove();
          await close(storage);
        }
      }
    };
    return skip === undefined ? { name, run } : { name, run, skip };
  }

  return [
    define("is empty at first, and keeps its tenant's name", async (storage) => {
      claim(storage.tenantId.startsWith("t-"), "tenantId is the one it was made with");
      claimEqual(await storage.get("otp"), null, "get gives null where nothing is stored");
      claimEqual(await storage.providers(), [], "no provider has a session");
    }),
    define("can be initialized again, and by several at once", async (storage) => {
      await storage.put("otp", base);
      await Promise.all([storage.initialize(), storage.initialize()]);
      claimEqual(await storage.get("otp"), base, "initialize keeps what is stored");
    }),
    define("gives back what was put, to the letter", async (storage) => {
      const odd = { ...base, version: 0, username: "Ñandú 𝒜 \u0000 \"'\\ 名前", token: "x".repeat(8192) };
      await storage.put("otp", odd);
      claimEqual(await storage.get("otp"), odd, "unusual and long text survives");
      const small: StoredSession = { version: 7, provider: "otp", username: "u", token: "t" };
      await storage.put("otp", small);
      claimEqual(await storage.get("otp"), small, "a later put takes the earlier one's place, field by field");
    }),
    define("keeps providers apart, whatever their names", async (storage) => {
      const names = ["otp", "id", "a.b/c:d", "__proto__", "constructor", "Ünï", "OTP", "x".repeat(120)];
      for (const [index, name] of names.entries()) await storage.put(name, session(index));
      for (const [index, name] of names.entries()) {
        claimEqual(await storage.get(name), session(index), `the session of "${name}" is its own`);
      }
      claimEqual((await storage.providers()).sort(), [...names].sort(), "providers lists each once");
    }),
    define("is not changed through objects it was given or gave", async (storage) => {
      const given = { ...base };
      await storage.put("otp", given);
      given.token = "changed after put";
      const got = (await storage.get("otp")) as { token: string };
      got.token = "changed after get";
      claimEqual(await storage.get("otp"), base, "what is stored stays");
    }),
    define("replaces where the version is the expected one", async (storage) => {
      await storage.put("otp", session(5));
      claim(await storage.replace("otp", 5, session(6)), "replace is true");
      claimEqual(await storage.get("otp"), session(6), "the next session is stored");
      claim(await storage.replace("otp", 6, session(9)), "the next version may be any");
      claimEqual(await storage.get("otp"), session(9), "and it is stored");
    }),
    define("does not replace another version", async (storage) => {
      await storage.put("otp", session(5));
      claim(!(await storage.replace("otp", 4, session(6))), "replace is false");
      claimEqual(await storage.get("otp"), session(5), "nothing changed");
      await storage.put("otp", session(70));
      claim(!(await storage.replace("otp", 5, session(6))), "an answer to an earlier sign-in is refused");
      claimEqual(await storage.get("otp"), session(70), "the new sign-in stays");
    }),
    define("does not replace what is not there: no late answer revives a session", async (storage) => {
      claim(!(await storage.replace("otp", 0, session(1))), "replace is false where nothing was ever stored");
      await storage.put("otp", session(5));
      await storage.put("id", session(8));
      await storage.remove("otp");
      claim(!(await storage.replace("otp", 5, session(6))), "replace is false after remove");
      claimEqual(await storage.get("otp"), null, "nothing is stored");
      claimEqual(await storage.providers(), ["id"], "the other provider is not touched");
    }),
    define("lets one of many parallel replaces win", async (storage) => {
      await storage.put("otp", session(1));
      const tries = Array.from({ length: 20 }, (_, index) => session(100 + index));
      const won = await Promise.all(tries.map((next) => storage.replace("otp", 1, next)));
      claimEqual(won.filter(Boolean).length, 1, "exactly one replace is true");
      claimEqual(await storage.get("otp"), tries[won.indexOf(true)], "the winner's session is stored");
    }),
    define("a remove in the middle of replaces leaves nothing", async (storage) => {
      await storage.put("otp", session(1));
      const replaces = [2, 3, 4].map((version) => storage.replace("otp", 1, session(version)));
      await Promise.all([...replaces, storage.remove(), storage.replace("otp", 1, session(5))]);
      claimEqual(await storage.get("otp"), null, "the session is gone for good");
    }),
    define("removes one provider or all, also when there is nothing", async (storage) => {
      await storage.remove();
      await storage.remove("otp");
      await storage.put("otp", session(1));
      await storage.put("id", session(2));
      await storage.remove("otp");
      claimEqual(await storage.get("otp"), null, "the removed one is gone");
      claimEqual(await storage.get("id"), session(2), "the other one stays");
      await storage.remove();
      claimEqual(await storage.providers(), [], "remove without a provider removes all");
      await storage.put("otp", session(3));
      claimEqual(await storage.get("otp"), session(3), "the storage can be used again");
    }),
    define("keeps tenants apart", async (storage) => {
      const other = await open(newTenant());
      await storage.put("otp", session(1));
      claimEqual(await other.get("otp"), null, "another tenant sees nothing");
      claimEqual(await other.providers(), [], "and lists nothing");
      await other.put("otp", session(2));
      await other.remove();
      claimEqual(await storage.get("otp"), session(1), "another tenant's remove takes nothing away");
    }),
    define(
      "shares a tenant's sessions between two instances",
      async (storage) => {
        const second = await open(storage.tenantId);
        await storage.put("otp", session(1));
        claimEqual(await second.get("otp"), session(1), "the second sees what the first put");
        const tries = Array.from({ length: 10 }, (_, index) => session(100 + index));
        const won = await Promise.all(
          tries.map((next, index) => (index % 2 ? storage : second).replace("otp", 1, next)),
        );
        claimEqual(won.filter(Boolean).length, 1, "one replace wins among both");
        claimEqual(await storage.get("otp"), await second.get("otp"), "both see the winner");
        await second.remove();
        claimEqual(await storage.get("otp"), null, "the first sees the second's remove");
      },
      notShared,
    ),
    define(
      "keeps sessions when it is closed and opened again",
      async (storage) => {
        await storage.put("otp", base);
        await storage.put("id", session(2));
        await storage.remove("id");
        await close(storage);
        const again = await open(storage.tenantId);
        claimEqual(await again.get("otp"), base, "the session is still there");
        claimEqual(await again.providers(), ["otp"], "and a removed one is not");
        claim(await again.replace("otp", base.version, session(3)), "it can be replaced");
      },
      notShared,
    ),
  ];
}
