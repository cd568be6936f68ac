import type { Command } from "commander";
import { findWorkerById, type Worker } from "../people/workers.ts";
import { endSessions, findSession, listSessions, type SessionRecord } from "../store/sessions.ts";
import { chosenTenant, demandWorker, type TenantOption, tenantOption } from "./choose.ts";
import { CliFailure } from "./cli-failure.ts";
import { type CliContext, defineCommand, onRun } from "./context.ts";
import { defineGroup } from "./group.ts";
import { confirm } from "./prompt.ts";
import { formatTable, formatTime, isoTime } from "./table.ts";

export function addSessionsCommands(program: Command, cli: CliContext): void {
  const group = defineGroup(program, "sessions", "list and end sessions");
  addSessionsListCommand(group, cli);
  addSessionsEndCommand(group, cli);
}

function sessionAsJson(session: SessionRecord): object {
  const { id, tenantId, userId, username, kind, provider } = session;
  return {
    id,
    tenantId,
    userId,
    username,
    kind,
    provider,
    bound: session.jkt !== null,
    createdAt: isoTime(session.createdAt),
    lastUsedAt: isoTime(session.rotatedAt),
    expiresAt: isoTime(session.expiresAt),
    absoluteExpiresAt: isoTime(session.absoluteExpiresAt),
  };
}

function addSessionsListCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "list", {
    summary: "list the living sessions of a tenant or a user",
    examples: [
      ["fieldgate sessions list --tenant kenya", "of a tenant"],
      ["fieldgate sessions list --tenant kenya --user amina", "of one user"],
    ],
  })
    .option(...tenantOption)
    .option("--user <username>", "only this user's");
  onRun<TenantOption & { user?: string }>(command, cli, async (run) => {
    const deployment = await run.deployment();
    const { store } = deployment;
    const tenant = await chosenTenant(deployment, run.options);
    const user = run.options.user === undefined ? null : await demandWorker(store, tenant, run.options.user);
    const sessions = await listSessions(store, { tenantId: tenant.id, ...(user && { userId: user.id }) });
    const rows = sessions.map((session) => [
      session.id,
      session.username,
      session.provider,
      session.jkt === null ? "plain" : "bound",
      formatTime(session.createdAt),
      formatTime(session.rotatedAt),
      formatTime(session.expiresAt),
    ]);
    const header = ["SESSION", "USER", "PROVIDER", "KIND", "BEGAN", "LAST USED", "ENDS IF UNUSED"];
    const text = rows.length === 0 ? "There is no living session." : formatTable(header, rows);
    return { json: sessions.map(sessionAsJson), text };
  });
}

interface EndOptions extends TenantOption {
  readonly session?: string;
  readonly user?: string;
  readonly all?: true;
  readonly yes?: true;
}

function addSessionsEndCommand(group: Command, cli: CliContext): void {
  const command = defineCommand(group, "end", {
    summary: "end one session, a user's sessions, or all of a tenant",
    notes: "Refreshing stops at once; access tokens stop on every node within 5 seconds.",
    examples: [
      ["fieldgate sessions end --tenant kenya --session 3f6c…", "one session, as `sessions list` names it"],
      ["fieldgate sessions end --tenant kenya --user amina", "a user's sessions, such as after a lost phone"],
      ["fieldgate sessions end --tenant kenya --all --yes", "everyone's, without asking"],
    ],
  })
    .option(...tenantOption)
    .option("--session <id>", "this session")
    .option("--user <username>", "every session of this user")
    .option("--all", "every session of the tenant")
    .option("--yes", "do not ask");
  onRun<EndOptions>(command, cli, async (run) => {
    const { session, user, all, yes } = run.options;
    if ([session, user, all].filter((choice) => choice !== undefined).length !== 1) {
      throw new CliFailure("Say what to end: one of --session ID, --user USERNAME and --all.", 2);
    }
    const deployment = await run.deployment();
    const { store } = deployment;
    const tenant = await chosenTenant(deployment, run.options);
    const worker = user === undefined ? null : await demandWorker(store, tenant, user);
    const owner = session === undefined ? null : await sessionOwner(store, tenant.id, session);
    const what = worker
      ? `every session of ${worker.username}`
      : session !== undefined
        ? `the session ${session}${owner ? ` of ${owner.username}` : ""}`
        : `every session of the tenant ${tenant.id}`;
    if (!yes) await confirm(cli, `End ${what}?`);
    const choice = { tenantId: tenant.id, userId: worker?.id, sessionId: session };
    const ended = await store.transaction((tx) => endSessions(tx, choice, "ended_by_admin"));
    const count = ended.length === 1 ? "1 session" : `${ended.length} sessions`;
    return { json: { ended }, text: ended.length === 0 ? "There was nothing to end." : `Ended ${count}.` };
  });
}

async function sessionOwner(
  q: Parameters<typeof findSession>[0],
  tenantId: string,
  sessionId: string,
): Promise<Worker | null> {
  const found = await findSession(q, sessionId);
  if (found?.session.tenantId !== tenantId) {
    throw new CliFailure(`The tenant ${tenantId} has no session "${sessionId}". See \`fieldgate sessions list\`.`);
  }
  return findWorkerById(q, tenantId, found.session.userId);
}
