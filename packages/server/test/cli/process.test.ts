import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bin, CommandLine, outcomeOf } from "../kit/command-line.ts";

const password = "walnut harbour seventeen";
let line: CommandLine;

beforeAll(async () => {
  line = new CommandLine({ FIELDGATE_DEFAULT_TENANT: "kenya" });
  const flags = ["init", "--dev", "--tenant", "kenya", "--admin", "amina", "--password-stdin"];
  await line.json(flags, { input: password });
});
afterAll(() => line.remove());

/** Makes Node take itself for another version, before the program looks. */
const asNode = (version: string) => [
  "--import",
  `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`,
];

describe("on an old Node", () => {
  const run = (args: string[], env = {}) =>
    spawn(process.execPath, [...asNode("18.20.4"), bin, ...args], { cwd: line.cwd, env: { ...line.env, ...env } });

  it("the pinned Node runs it: arguments, stdin, stdout and exit code", async () => {
    const child = run(["user", "add", "otieno", "--dev", "--json", "--password-stdin"]);
    child.stdin.end(password);
    const outcome = await outcomeOf(child);
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(outcome.stdout)).toMatchObject({ username: "otieno" });
    expect(await outcomeOf(run(["nonsense"]))).toMatchObject({ code: 2 });
    expect(await outcomeOf(run(["user", "disable", "nobody", "--dev"]))).toMatchObject({ code: 1 });
  });

  it("signals reach it", async () => {
    const child = run(["serve", "--dev"], { FIELDGATE_PORT: "0" });
    const outcome = outcomeOf(child);
    await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
    child.kill("SIGTERM");
    expect(await outcome).toMatchObject({ code: 0 });
  });

  it("without the pinned one it says which is needed", async () => {
    const outcome = await outcomeOf(run(["--version"], { _FIELDGATE_PINNED_NODE: "1" }));
    expect(outcome).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("needs Node 24.7 or newer") });
  });

  it("a Node that is new enough runs it itself", async () => {
    const direct = spawn(process.execPath, [...asNode("26.0.0"), bin, "--version"], { cwd: line.cwd, env: line.env });
    expect(await outcomeOf(direct)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe("a password", () => {
  it.skipIf(!existsSync("/proc/self/cmdline"))("is in no argument and no variable of the process", async () => {
    const child = line.spawn(["user", "password", "amina", "--dev", "--password-stdin"]);
    const outcome = outcomeOf(child);
    child.stdin.write(password.slice(0, 10));
    await sleep(500);
    const seen = ["cmdline", "environ"].map((file) => readFileSync(`/proc/${child.pid}/${file}`, "utf8")).join();
    child.stdin.end(password.slice(10));
    expect(seen).toContain("--password-stdin");
    expect(seen).not.toContain(password.slice(0, 10));
    expect(await outcome).toMatchObject({ code: 0 });
  });

  it("that is no text is refused", async () => {
    const child = line.spawn(["user", "password", "amina", "--dev", "--password-stdin"]);
    child.stdin.end(Buffer.concat([Buffer.from(password), Buffer.from([0xff, 0xfe])]));
    expect(await outcomeOf(child)).toMatchObject({ code: 1, stderr: expect.stringContaining("UTF-8") });
  });

  it("keeps its spaces; only the line break goes", async () => {
    const spaced = `  ${password}  `;
    expect(
      await line.run(["user", "password", "amina", "--dev", "--password-stdin"], { input: `${spaced}\n` }),
    ).toMatchObject({
      code: 0,
    });
  });
});

it("a reader that has seen enough is no mistake", async () => {
  const shell = spawn("sh", ["-c", `'${process.execPath}' '${bin}' serve --help | head -1`], {
    cwd: line.cwd,
    env: line.env,
  });
  expect(await outcomeOf(shell)).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("Usage") });
});

const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false;

/** Runs a command on a real terminal and types what is asked for, each after its question. */
async function onTerminal(args: string[], typed: readonly (readonly [question: string, answer: string])[]) {
  const command = [process.execPath, bin, ...args].map((part) => `'${part}'`).join(" ");
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd: line.cwd,
    env: { ...line.env, TERM: "xterm" },
  });
  let screen = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    screen += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  let seen = 0;
  for (const [question, answer] of typed) {
    for (let tries = 0; !screen.slice(seen).includes(question) && tries < 200; tries++) await sleep(50);
    expect(screen.slice(seen)).toContain(question);
    seen = screen.length;
    await sleep(100);
    child.stdin.write(answer);
  }
  const code = await ended;
  child.stdin.destroy();
  return { code, screen };
}

describe.skipIf(!hasScript)("on a terminal", () => {
  const next = "copper bridge nineteen lamps";

  it("the password is asked for twice and never shown", async () => {
    const { code, screen } = await onTerminal(
      ["user", "password", "amina", "--dev"],
      [
        ["Password of amina", `${next.slice(0, -1)}xx\x7f\x7fs\r`],
        ["The same again", `${next}\r`],
      ],
    );
    expect(screen).toContain("amina has a new password");
    expect(code).toBe(0);
    expect(screen).not.toContain("copper");
  });

  it("two different ones change nothing", async () => {
    const { code, screen } = await onTerminal(
      ["user", "password", "amina", "--dev"],
      [
        ["Password of amina", `${next}\r`],
        ["The same again", `${password}\r`],
      ],
    );
    expect(screen).toContain("The two passwords differ");
    expect(code).toBe(1);
  });

  it("Ctrl-C stops it", async () => {
    const { code, screen } = await onTerminal(
      ["user", "password", "amina", "--dev"],
      [["Password of amina", "abc\x03"]],
    );
    expect(screen).toContain("Stopped: nothing was changed.");
    expect(code).toBe(1);
  });

  it("what cannot be taken back is asked about first", async () => {
    const end = ["sessions", "end", "--all", "--dev"];
    expect(await onTerminal(end, [["End every session of the tenant kenya? [y/N]", "\r"]])).toMatchObject({ code: 1 });
    const yes = await onTerminal(end, [["End every session of the tenant kenya? [y/N]", "y\r"]]);
    expect(yes).toMatchObject({ code: 0, screen: expect.stringContaining("There was nothing to end.") });
  });

  it("init asks for everything", async () => {
    const { code, screen } = await onTerminal(
      ["init", "--out", "asked.env", "--database-url", "sqlite:asked.db"],
      [
        ["Where will clients reach the service?", "https://id.example.org\r"],
        ["Its name, for people [kenya]", "\r"],
        ["Username of the first admin", "amina\r"],
        ["Mail server that sends codes", "smtp://cash@mail.example.org:587\r"],
        ["Password of cash there", "hush/hush\r"],
        ["Address that mails come from [no-reply@id.example.org]", "\r"],
        ["Password of amina", `${password}\r`],
        ["The same again", `${password}\r`],
      ],
    );
    expect(screen).toContain("The tenant kenya has its first admin, amina.");
    expect(code).toBe(0);
    expect(screen).not.toContain("hush");
    expect(readFileSync(join(line.cwd, "asked.env"), "utf8")).toContain(
      '[{"type":"smtp","url":"smtp://cash:hush%2Fhush@mail.example.org:587","from":"no-reply@id.example.org"}]',
    );
  });
});
