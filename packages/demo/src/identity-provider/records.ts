import type { Adapter, AdapterPayload } from "oidc-provider";

/** What an issuer remembers, in memory: one map for each kind of record. */
export interface Records {
  adapter(kind: string): Adapter;
  all(kind: string): [id: string, payload: AdapterPayload][];
}

export function createRecords(): Records {
  const kinds = new Map<string, Map<string, AdapterPayload>>();

  function recordsOf(kind: string): Map<string, AdapterPayload> {
    const records = kinds.get(kind) ?? new Map<string, AdapterPayload>();
    kinds.set(kind, records);
    return records;
  }

  return {
    all: (kind) => [...recordsOf(kind)],
    adapter(kind) {
      const records = recordsOf(kind);
      const findBy = async (property: "uid" | "userCode", value: string) =>
        [...records.values()].find((payload) => payload[property] === value);
      return {
        upsert: async (id, payload) => void records.set(id, payload),
        find: async (id) => records.get(id),
        findByUid: (uid) => findBy("uid", uid),
        findByUserCode: (userCode) => findBy("userCode", userCode),
        consume: async (id) => {
          const payload = records.get(id);
          if (payload) records.set(id, { ...payload, consumed: Math.floor(Date.now() / 1000) });
        },
        destroy: async (id) => void records.delete(id),
        revokeByGrantId: async (grantId) => {
          for (const [id, payload] of records) if (payload.grantId === grantId) records.delete(id);
        },
      };
    },
  };
}
