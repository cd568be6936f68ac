import type { Command } from "commander";
import type { CliContext } from "./context.ts";
import { defineGroup } from "./group.ts";
import { addJournalExportCommand } from "./journal-export.ts";
import { addJournalVerifyCommand } from "./journal-verify.ts";

export function addJournalCommands(program: Command, cli: CliContext): void {
  const group = defineGroup(program, "journal", "verify and export the journal of what happened");
  addJournalVerifyCommand(group, cli);
  addJournalExportCommand(group, cli);
}
