#!/usr/bin/env node
// Plain JavaScript that an old Node can read too: it finds the Node this service needs and runs the command line on it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const needed = [24, 7];
const [major, minor] = process.versions.node.split(".").map(Number);

if (major > needed[0] || (major === needed[0] && minor >= needed[1])) {
  // Compiled code is kept beside the packages it comes from, where only those who may change them can write.
  const modules = nearest(here, "node_modules");
  if (modules !== null) nodeModule.enableCompileCache(join(modules, ".cache", "fieldgate"));
  import("../src/main.ts").then((main) => main.runProcess());
} else {
  // The Node that `npm ci` brought along.
  runOn(nearest(here, join("node_modules", ".bin", "node")));
}

/** Where `path` exists in this folder or the nearest one above. */
function nearest(folder, path) {
  const found = join(folder, path);
  if (existsSync(found)) return found;
  const parent = dirname(folder);
  return parent === folder ? null : nearest(parent, path);
}

function runOn(node) {
  if (node === null || process.env._FIELDGATE_PINNED_NODE) {
    console.error(
      `error: fieldgate needs Node ${needed.join(".")} or newer, and this is Node ${process.versions.node}. ` +
        "Run `npm ci` in the project, which brings the right one, or install it from nodejs.org.",
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url)].concat(process.argv.slice(2)), {
    stdio: "inherit",
    env: Object.assign({}, process.env, { _FIELDGATE_PINNED_NODE: "1" }),
  });
  // A terminal sends Ctrl-C to both of us already; the child must not hear it twice.
  const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (signal !== "SIGINT" || !onTerminal) child.kill(signal);
    });
  }
  child.on("error", (error) => {
    console.error(`error: ${node} could not be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    if (signal === null) {
      process.exitCode = code;
      return;
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
