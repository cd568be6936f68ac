import type { Command } from "commander";
import { disableBeneficiary, enableBeneficiary } from "../people/beneficiaries.ts";
import { demandPerson, openPeople, personNotes } from "./beneficiary-choose.ts";
import { type TenantOption, tenantOption } from "./choose.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";

export function addBeneficiaryDisableCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "disable <person>", {
    summary: "close every way in for a person and end the sessions",
    notes: `${personNotes}\nTheir ID numbers are free for others meanwhile. A tenant's retention setting may erase them later.`,
    examples: [["fieldgate beneficiary disable HH-1042 --tenant kenya", "at once, and within 5 s for every token"]],
  }).option(...tenantOption);
  onRun<TenantOption>(command, cli, async (run) => {
    const people = await openPeople(run, cli);
    const { id, changed } = await people.store.transaction(async (tx) => {
      const person = await demandPerson(tx, people, run.args[0] ?? "");
      await disableBeneficiary(tx, person);
      return { id: person.id, changed: person.disabledAt === null };
    });
    const text = changed ? `${id} is disabled, and the sessions are ended.` : `${id} was disabled already.`;
    return { json: { id, disabled: true, changed }, text };
  });
}

export function addBeneficiaryEnableCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "enable <person>", {
    summary: "let a disabled person in again",
    notes: personNotes,
    examples: [["fieldgate beneficiary enable HH-1042 --tenant kenya", "ended sessions stay ended"]],
  }).option(...tenantOption);
  onRun<TenantOption>(command, cli, async (run) => {
    const people = await openPeople(run, cli);
    const { id, changed } = await people.store.transaction(async (tx) => {
      const person = await demandPerson(tx, people, run.args[0] ?? "");
      await enableBeneficiary(tx, people.cipher, person);
      return { id: person.id, changed: person.disabledAt !== null };
    });
    const text = changed ? `${id} may sign in again.` : `${id} was not disabled.`;
    return { json: { id, disabled: false, changed }, text };
  });
}
