import { Fault } from "../fault.ts";
import type { Services } from "../services.ts";
import type { SessionRecord } from "../store/sessions.ts";
import type { MacKey } from "../tokens/keyring.ts";

/** The key a session's refresh tokens are made with; null for a session that has none. */
export async function refreshKeyOf({ keyring }: Services, session: SessionRecord): Promise<MacKey | null> {
  const id = session.refreshKeyId;
  if (id === null) return null;
  // Another node may have made the key a moment ago.
  if (!keyring.macById(id)) await keyring.reload();
  const key = keyring.macById(id);
  if (!key) throw new Fault("unavailable", { detail: `refresh key ${id} is not loaded` });
  return key;
}
