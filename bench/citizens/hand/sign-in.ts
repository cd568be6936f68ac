import { randomBytes, randomUUID } from "node:crypto";
import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import { codeOf, mac, type SessionRow, sameText } from "./crypto.ts";
import type { CitizenKeys } from "./keys.ts";
import { bornHolderOf, holderIdOf } from "./people.ts";
import { first, type HandDatabase, type Work } from "./statements.ts";

const opaqueId = () => randomBytes(16).toString("base64url");

interface ChallengeRow {
  readonly slot: string;
  readonly id: string;
  readonly tenant_id: string;
  readonly recipient: string;
}

/** A right code gives a session; the failures that cost extra are left out, and so is nothing that success does. */
export async function signInWithCode(
  keys: CitizenKeys,
  database: HandDatabase,
  body: { recipient: string; code: string; tenantId: string },
): Promise<SessionRow | null> {
  const text = body.recipient.normalize("NFKC").trim();
  const phone = /^[+\d(][\d\s().\-/]*$/.test(text) ? parsePhoneNumberFromString(text, { extract: false }) : undefined;
  if (!phone?.isPossible() || body.tenantId !== keys.tenant.id) return null;
  const { number } = phone;
  const tenant = keys.tenant.id;
  const slot = mac(keys.index, "otp-slot", "sign-in", mac(keys.index, "otp-recipient", tenant, "phone", number));
  if (!(await database.alone(first("hasLivingChallenge", slot)))) return null;
  const subject = mac(keys.index, "budget-subject", tenant, `phone:${number}`);
  const budget = mac(keys.index, "budget", "otp-failure", tenant, subject, "");
  if (!(await database.later(first("reserveCode", budget, subject)))) return null;
  const challenge = await database.later(first<ChallengeRow>("takeTry", slot));
  if (!challenge || !sameText(codeOf(keys.otp, challenge), body.code)) return null;
  return database.together(consume(keys, challenge, budget, number));
}

function* consume(keys: CitizenKeys, challenge: ChallengeRow, budget: string, phone: string): Work<SessionRow | null> {
  if (!(yield* first("consume", challenge.slot, challenge.id))) return null;
  const personId = yield* holderIdOf(keys, phone);
  if (personId === null) return null;
  yield ["settleCode", budget];
  const signIn = { provider: "otp", amr: '["otp"]', acr: "substantial", lifeMs: 1_800_000 };
  const session = yield* startSession(keys.tenant.id, personId, signIn);
  if (session) yield record(session, "otp.verified", '{"medium":"phone"}');
  return session;
}

const iso = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The right number and date give a session. */
export async function signInWithNationalId(
  keys: CitizenKeys,
  database: HandDatabase,
  body: { idNumber: string; dateOfBirth: string; tenantId: string },
  address: string,
): Promise<SessionRow | null> {
  const number = body.idNumber
    .normalize("NFKC")
    .toUpperCase()
    .replace(/[\s\-./_']/g, "");
  const date = iso.exec(body.dateOfBirth);
  if (!/^[\p{L}\p{N}]{1,64}$/u.test(number) || !date || body.tenantId !== keys.tenant.id) return null;
  const tenant = keys.tenant.id;
  const subject = mac(keys.index, "budget-subject", tenant, `national_id:${number}`);
  const budget = mac(keys.index, "budget", "national-id", tenant, "number", subject);
  const network = mac(keys.index, "budget", "national-id", tenant, "network", address);
  const counted = await database.alone(first<{ failed: number }>("readNetwork", network));
  if (counted && counted.failed >= 300) return null;

  const person = await database.alone(bornHolderOf(keys, number));
  if (!(await database.later(first("reserveNumber", budget, subject)))) return null;
  const birth = person?.birth;
  const [year, month, day] = date.slice(1).map(Number);
  if (!person || birth?.year !== year || birth?.month !== month || birth?.day !== day) return null;
  return database.together(accept(keys, person.id, { budget, subject }));
}

function* accept(
  keys: CitizenKeys,
  personId: string,
  { budget, subject }: { budget: string; subject: string },
): Work<SessionRow | null> {
  const shard = String(Math.floor(Math.random() * 8));
  const counted = yield* first<{ failed: number }>(
    "countSignIn",
    mac(keys.index, "budget", "national-id", keys.tenant.id, "person", personId, ""),
    subject,
  );
  if (!counted) return null;
  if (counted.failed === 1)
    yield ["countPerson", mac(keys.index, "budget", "id-breaker", keys.tenant.id, "people", shard), ""];
  yield ["settleNumber", budget];
  const signIn = { provider: "id", amr: '["kba"]', acr: "low", lifeMs: 900_000 };
  const session = yield* startSession(keys.tenant.id, personId, signIn);
  if (session) yield record(session, "id.verified", "{}");
  return session;
}

interface SignIn {
  readonly provider: string;
  readonly amr: string;
  readonly acr: string;
  readonly lifeMs: number;
}

function* startSession(
  tenant: string,
  personId: string,
  { provider, amr, acr, lifeMs }: SignIn,
): Work<SessionRow | null> {
  if (!(yield* first("isActive", personId, tenant))) return null;
  const device = opaqueId();
  yield ["rememberDevice", device, tenant, personId];
  const ids = [opaqueId(), tenant, personId, `self-service:${personId}`] as const;
  const session = yield* first<SessionRow>("insertSession", ...ids, provider, amr, acr, device, String(lifeMs));
  return session ?? null;
}

function record(session: SessionRow, type: string, data: string) {
  return ["record", randomUUID(), session.tenant_id, type, session.user_id, session.id, data] as const;
}
