import type { Command } from "commander";
import { addBeneficiaryImportCommand } from "./beneficiary-import.ts";
import type { CliContext } from "./context.ts";
import { defineGroup } from "./group.ts";

export function addBeneficiaryCommands(program: Command, cli: CliContext): void {
  const group = defineGroup(program, "beneficiary", "import, look at, change and erase the people of a programme");
  addBeneficiaryImportCommand(group, cli);
}
