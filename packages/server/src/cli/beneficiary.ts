import type { Command } from "commander";
import { addBeneficiaryAddCommand } from "./beneficiary-add.ts";
import { addBeneficiaryEraseCommand, addBeneficiaryMergeCommand } from "./beneficiary-erase.ts";
import { addBeneficiaryExportCommand } from "./beneficiary-export.ts";
import { addBeneficiaryImportCommand } from "./beneficiary-import.ts";
import { addBeneficiaryListCommand, addBeneficiaryShowCommand } from "./beneficiary-show.ts";
import { addBeneficiaryDisableCommand, addBeneficiaryEnableCommand } from "./beneficiary-state.ts";
import type { CliContext } from "./context.ts";
import { defineGroup } from "./group.ts";

export function addBeneficiaryCommands(program: Command, cli: CliContext): void {
  const group = defineGroup(program, "beneficiary", "import, look at, change and erase the people of a programme");
  addBeneficiaryImportCommand(group, cli);
  addBeneficiaryExportCommand(group, cli);
  addBeneficiaryAddCommand(group, cli);
  addBeneficiaryListCommand(group, cli);
  addBeneficiaryShowCommand(group, cli);
  addBeneficiaryDisableCommand(group, cli);
  addBeneficiaryEnableCommand(group, cli);
  addBeneficiaryMergeCommand(group, cli);
  addBeneficiaryEraseCommand(group, cli);
}
