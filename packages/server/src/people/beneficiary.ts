import type { BirthDate } from "./birth-date.ts";

export interface Names {
  readonly given: string;
  readonly family?: string;
  /** The name as one text, where it does not fall into given and family. */
  readonly full?: string;
}

export interface NationalId {
  /** What kind of document it is, in the tenant's own words. */
  readonly type: string;
  readonly number: string;
}

/** What a tenant tells us of a person; identifiers as people write them. */
export interface BeneficiaryFacts {
  readonly externalId: string | null;
  readonly names: Names;
  readonly birth: BirthDate | null;
  /** BCP 47, for messages. */
  readonly language: string | null;
  readonly phones: readonly string[];
  readonly emails: readonly string[];
  readonly nationalIds: readonly NationalId[];
}

/** A person who may sign in for themself. Identifiers are in their canonical form. */
export interface Beneficiary extends BeneficiaryFacts {
  /** The entity id: opaque. */
  readonly id: string;
  readonly tenantId: string;
  readonly version: number;
  readonly disabledAt: number | null;
}

export type IdentifierKind = "phone" | "email" | "national_id";
