import { hash } from "node:crypto";
import { sql } from "kysely";
import type { Queries } from "./store.ts";

/** Whom or what an identity provider names: a session of its own, or a person. */
export interface ProviderPerson {
  readonly issuer: string;
  readonly subject: string | null;
  readonly sid: string | null;
}

/** No provider's token that is accepted lives longer, so this long a logout must be remembered. */
export const longestProviderTokenSeconds = 31 * 86_400;
const keepMs = (longestProviderTokenSeconds + 3600) * 1000;

const idOf = (...parts: readonly string[]) => hash("sha256", JSON.stringify(parts), "base64url");
const idOfSession = (issuer: string, sid: string) => idOf(issuer, "sid", sid);
const idOfSubject = (issuer: string, subject: string) => idOf(issuer, "sub", subject);
/** What names the person, but no session: whichever it came from, a logout of one ends it. */
const idOfSessionless = (issuer: string, subject: string) => idOf(issuer, "sub without sid", subject);

/** Remembers a logout: of the session where one is named, else of the person. */
export async function recordLogout(tx: Queries, person: ProviderPerson, issuedAt: number): Promise<void> {
  const { issuer, subject, sid } = person;
  if (sid === null) return remember(tx, idOfSubject(issuer, subject ?? ""), issuedAt);
  await remember(tx, idOfSession(issuer, sid), issuedAt);
  if (subject !== null) await remember(tx, idOfSessionless(issuer, subject), issuedAt);
}

async function remember(tx: Queries, id: string, issuedAt: number): Promise<void> {
  await tx.db
    .insertInto("provider_logouts")
    .values({ id, issued_at: issuedAt, expires_at: sql<number>`${tx.now} + ${keepMs}` })
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet((eb) => ({
        issued_at: sql<number>`case when excluded.issued_at > provider_logouts.issued_at
          then excluded.issued_at else provider_logouts.issued_at end`,
        expires_at: eb.ref("excluded.expires_at"),
      })),
    )
    .execute();
}

/** Whether the provider has ended the session of a token, or everything of its person up to when it was issued. */
export async function wasLoggedOut(q: Queries, person: ProviderPerson, issuedAt: number): Promise<boolean> {
  const { issuer, subject, sid } = person;
  const bySession = sid === null ? idOfSessionless(issuer, subject ?? "") : idOfSession(issuer, sid);
  const rows = await q.db
    .selectFrom("provider_logouts")
    .select(["id", "issued_at"])
    .where("id", "in", [idOfSubject(issuer, subject ?? ""), bySession])
    .execute();
  // A session that was ended stays so; a person may come again.
  return rows.some((row) => (sid !== null && row.id === bySession) || issuedAt <= row.issued_at);
}
