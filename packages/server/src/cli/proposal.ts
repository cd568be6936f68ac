import type { Command } from "commander";
import {
  acceptProposal,
  listProposals,
  type Proposal,
  type ProposalContext,
  proposedData,
  refuseProposal,
} from "../flows/proposals.ts";
import { operator } from "../flows/sync-append.ts";
import { recordEvent } from "../journal/record.ts";
import { openPeople, type PeopleOfTenant } from "./beneficiary-choose.ts";
import { demandWorker, type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun, type Run } from "./context.ts";
import { defineGroup } from "./group.ts";
import { formatTable, formatTime, isoTime } from "./table.ts";

const notes =
  "A phone number, an address, an ID number, an external id or a date of birth of somebody who is there already waits as a\n" +
  "proposal until a supervisor decides. So does the deletion of somebody who can sign in (`entity`), and a citizen's own name.";

export function addProposalCommands(program: Command, cli: CliContext): void {
  const group = defineGroup(
    program,
    "proposal",
    "decide about changes of identifiers and dates of birth, and about deletions",
  );
  addProposalListCommand(group, cli);
  addDecisionCommand(group, cli, "accept", acceptProposal);
  addDecisionCommand(group, cli, "refuse", refuseProposal);
}

interface ListOptions extends TenantOption {
  readonly reveal?: true;
}

const most = 1000;

function addProposalListCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "list", {
    summary: "list the proposals that wait, the oldest first",
    notes,
    examples: [
      ["fieldgate proposal list --tenant kenya", "which fields of whom"],
      ["fieldgate proposal list --tenant kenya --reveal", "with what they would become; journalled"],
    ],
  })
    .option(...tenantOption)
    .option("--reveal", "show what is proposed");
  onRun<ListOptions>(command, cli, async (run) => {
    const people = await openPeople(run, cli);
    const { store, cipher, tenant } = people;
    const proposals = await listProposals(store, tenant.id, most);
    const shown: { readonly proposal: Proposal; readonly data?: object }[] = [];
    for (const proposal of proposals) {
      if (!run.options.reveal) shown.push({ proposal });
      else shown.push({ proposal, data: await proposedData(store, cipher, proposal) });
    }
    if (run.options.reveal) await noteReveal(people, proposals);
    const rows = shown.map(({ proposal: { eventId, entityId, fields, createdAt }, data }) => [
      ...[eventId, entityId, formatTime(createdAt), data ? JSON.stringify(data) : fields.join(", ")],
    ]);
    const header = ["PROPOSAL", "PERSON", "SINCE", run.options.reveal ? "TO BECOME" : "FIELDS"];
    return {
      json: shown.map(({ proposal, data }) => ({
        ...{ id: proposal.eventId, entityId: proposal.entityId, fields: proposal.fields },
        createdAt: isoTime(proposal.createdAt),
        ...(data && { data }),
      })),
      text: rows.length === 0 ? "Nothing waits." : formatTable(header, rows),
    };
  });
}

async function noteReveal({ store, tenant }: PeopleOfTenant, proposals: readonly Proposal[]): Promise<void> {
  await store.transaction(async (tx) => {
    for (const subject of new Set(proposals.map(({ entityId }) => entityId))) {
      await recordEvent(tx, { tenantId: tenant.id, type: "beneficiary.revealed", subject });
    }
  });
}

interface DecisionOptions extends TenantOption {
  readonly by?: string;
}

function addDecisionCommand(
  group: Command,
  cli: CliContext,
  verb: "accept" | "refuse",
  decide: typeof acceptProposal,
): void {
  const command = defineCommand(group, `${verb} <proposal>`, {
    summary: verb === "accept" ? "change the person as it says, and tell their old addresses" : "leave it as it is",
    notes,
    examples: [[`fieldgate proposal ${verb} --tenant kenya --by amina 8f14e45f-…`, "as the supervisor amina"]],
  })
    .option(...tenantOption)
    .option("--by <username>", "the supervisor or admin who decides (default: the operator)");
  onRun<DecisionOptions>(command, cli, async (run) => {
    const people = await openPeople(run, cli);
    const context = await contextOf(run, people, cli);
    const { eventId, entityId, fields } = await people.store.transaction((tx) =>
      decide(tx, context, run.args[0] ?? ""),
    );
    const done = verb === "accept" ? "is changed" : "stays as it was";
    return {
      json: { id: eventId, entityId, fields, state: verb === "accept" ? "accepted" : "refused" },
      text: `${entityId} ${done}: ${fields.join(", ")}.`,
    };
  });
}

async function contextOf(
  run: Run<DecisionOptions>,
  { store, tenant, cipher }: PeopleOfTenant,
  cli: CliContext,
): Promise<ProposalContext> {
  const { defaultCountry, nationalId } = tenant.settings;
  const rules = { defaultCountry, nationalId, now: cli.clock.now() };
  const { by } = run.options;
  if (by === undefined) return { cipher, rules, by: operator };
  const worker = await demandWorker(store, tenant, by);
  const mayDecide =
    worker.disabledAt === null && worker.roles.some((role) => role === "supervisor" || role === "admin");
  if (!mayDecide) throw new CliFailure(`${worker.username} is no active supervisor or admin of ${tenant.id}.`);
  return { cipher, rules, by: { userId: worker.id, username: worker.username } };
}
