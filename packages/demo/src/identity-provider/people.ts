/** Somebody who has an account at an identity provider. */
export interface Account {
  readonly username: string;
  readonly password: string;
  readonly name: string;
  readonly email: string;
  /** The organizations of the hosted provider and the realms of the other one that know this person. */
  readonly organizations: readonly string[];
  readonly realms: readonly string[];
  readonly roles: readonly string[];
}

/** The provider answers on this machine alone, so its passwords may be known to everyone. */
export const demoAccount: Account = {
  username: "wambui",
  password: "baobab-drum-harvest-17",
  name: "Wambui Kariuki",
  email: "wambui@example.org",
  organizations: ["org_demo"],
  realms: ["demo"],
  roles: ["field-worker"],
};

/** Known to the providers, and a member of something else. */
export const outsiderAccount: Account = {
  username: "juma",
  password: "coral-kettle-meadow-58",
  name: "Juma Hassan",
  email: "juma@example.org",
  organizations: ["org_other"],
  realms: ["other"],
  roles: ["visitor"],
};

export const demoAccounts: readonly Account[] = [demoAccount, outsiderAccount];
