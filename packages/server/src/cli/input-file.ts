import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { CliFailure } from "./cli-failure.ts";
import type { CliContext } from "./context.ts";

/** The full path of a file that a person named, which must be there and readable. */
export function demandInputFile(cli: CliContext, name: string): string {
  const path = resolve(cli.cwd, name);
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "unreadable";
    throw new CliFailure(code === "ENOENT" ? `There is no file ${path}.` : `${path} cannot be read (${code}).`, 2);
  }
  if (!statSync(path).isFile()) throw new CliFailure(`${path} is not a file.`, 2);
  return path;
}

/** The full path of a file that is to be made, and must not be there yet. */
export function demandNewFile(cli: CliContext, name: string): string {
  const path = resolve(cli.cwd, name);
  const folder = resolve(path, "..");
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new CliFailure(`There is no folder ${folder}.`, 2);
  if (statSync(path, { throwIfNoEntry: false })) {
    throw new CliFailure(`There is already a file ${path}. Choose another name.`, 2);
  }
  return path;
}

/** Turns a full disk and the like into a sentence; what is not about the file is left as it is. */
export function explainWriting(path: string): (error: unknown) => never {
  return (error) => {
    const isAboutFile = error instanceof Error && "syscall" in error && "code" in error;
    if (!isAboutFile) throw error;
    const reason = error.code === "ENOSPC" ? "the disk is full" : String(error.code);
    throw new CliFailure(`${path} could not be written: ${reason}. Nothing is left of it.`);
  };
}
