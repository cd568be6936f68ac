import {
  addBeneficiary,
  addTenant,
  addWorker,
  type BeneficiaryFacts,
  findByExternalId,
  findTenant,
  findWorker,
  type Services,
} from "@fieldgate/server";

/** Who can be tried. The demo answers on this machine alone, so its passwords may be known to everyone. */
export const demoTenant = { id: "demo", name: "Demo programme", country: "KE" } as const;
export const demoWorker = { username: "amina", password: "acacia-lantern-river-42", roles: ["field-worker"] } as const;

const nothing = { birth: null, language: null, phones: [], emails: [], nationalIds: [] };
const born = (year: number, month: number, day: number) => ({ year, month, day, estimated: false });
const householdPhone = "+254700000111";

/** Each shows another way in. */
export const demoPeople = {
  mother: {
    ...nothing,
    externalId: "demo-household-1",
    names: { given: "Wanjiku", family: "Mwangi" },
    birth: born(1984, 3, 12),
    phones: [householdPhone],
  },
  father: {
    ...nothing,
    externalId: "demo-household-2",
    names: { given: "Kamau", family: "Mwangi" },
    birth: born(1980, 11, 2),
    phones: [householdPhone],
  },
  daughter: {
    ...nothing,
    externalId: "demo-household-3",
    names: { given: "Njeri", family: "Mwangi" },
    birth: born(2010, 9, 21),
    phones: [householdPhone],
  },
  byEmail: {
    ...nothing,
    externalId: "demo-email",
    names: { given: "Zawadi", family: "Achieng" },
    birth: born(1991, 1, 5),
    language: "sw",
    emails: ["zawadi@example.org"],
  },
  byId: {
    ...nothing,
    externalId: "demo-national-id",
    names: { given: "Otieno", family: "Odhiambo" },
    birth: born(1975, 6, 30),
    nationalIds: [{ type: "national-id", number: "12345678" }],
  },
  byYear: {
    ...nothing,
    externalId: "demo-birth-year",
    names: { given: "Halima", family: "Abdi" },
    birth: { year: 1950, estimated: true },
    language: "ar",
    phones: ["+254700000222"],
    nationalIds: [{ type: "national-id", number: "87654321" }],
  },
} as const satisfies Record<string, BeneficiaryFacts>;

/** Makes the people of the demo, those who are not there yet. */
export async function seedPeople({ store, hasher, dataKeys, config }: Services): Promise<void> {
  const { id, name, country } = demoTenant;
  const passwordHash = await hasher.hash(demoWorker.password);
  await store.transaction(async (tx) => {
    const adapters = ["otp", "id"].map((type) => ({ type, fields: { serverUrl: config.baseUrl } }));
    const settings = { defaultCountry: country, adapters };
    if (!(await findTenant(tx, id))) await addTenant(tx, { id, name, settings }, { loopbackHttp: true });
    if (await findWorker(tx, id, demoWorker.username)) return;
    await addWorker(tx, { tenantId: id, ...demoWorker, passwordHash });
  });
  const cipher = await dataKeys.cipher(id);
  await store.transaction(async (tx) => {
    for (const person of Object.values(demoPeople)) {
      if (await findByExternalId(tx, cipher, person.externalId)) continue;
      await addBeneficiary(tx, { cipher, defaultCountry: country }, person);
    }
  });
}
