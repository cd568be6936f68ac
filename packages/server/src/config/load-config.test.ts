import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError } from "./config-error.ts";
import { loadConfig } from "./load-config.ts";

const secret = randomBytes(32).toString("base64");
let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "fieldgate-config-"));
});
afterEach(() => rmSync(cwd, { recursive: true }));

function write(name: string, lines: string, mode = 0o600): string {
  writeFileSync(join(cwd, name), lines);
  chmodSync(join(cwd, name), mode);
  return join(cwd, name);
}

describe("loadConfig", () => {
  it("reads fieldgate.env, and the environment wins", () => {
    write(
      "fieldgate.env",
      `# a comment\nFIELDGATE_BASE_URL="https://file.example.org"\nFIELDGATE_SECRET=${secret}\nPORT=4000\n`,
    );
    const config = loadConfig({ FIELDGATE_BASE_URL: "https://env.example.org", PORT: "" }, { cwd });
    expect(config.baseUrl).toBe("https://env.example.org");
    expect(config.listen.port).toBe(4000);
    expect(config.secret).toEqual(Buffer.from(secret, "base64"));
  });

  it("reads another file instead, which must exist", () => {
    write("fieldgate.env", "FIELDGATE_NONSENSE=1");
    write("other.env", `FIELDGATE_BASE_URL=https://other.example.org\nFIELDGATE_SECRET=${secret}`);
    expect(loadConfig({}, { cwd, file: "other.env" }).baseUrl).toBe("https://other.example.org");
    expect(() => loadConfig({}, { cwd, file: "missing.env" })).toThrow(/There is no file .*missing\.env/);
  });

  it("relative paths start from the file's folder; those of the environment from where the command runs", () => {
    const file = write(
      "other.env",
      `FIELDGATE_BASE_URL=https://a.org\nFIELDGATE_SECRET=${secret}\nFIELDGATE_DELIVERY=@channels.json\n`,
    );
    write("channels.json", '[{"type":"smtp","url":"smtp://mail.example.org","from":"a@example.org"}]');
    const elsewhere = mkdtempSync(join(tmpdir(), "fieldgate-config-"));
    const read = (env = {}) => loadConfig(env, { cwd: elsewhere, file });
    expect(read()).toMatchObject({ dataDir: join(cwd, ".fieldgate"), delivery: [{ type: "smtp" }] });
    expect(read().database).toEqual({ kind: "sqlite", file: join(cwd, ".fieldgate", "fieldgate.db") });
    const given = read({ FIELDGATE_DATA_DIR: "data", FIELDGATE_DATABASE_URL: "sqlite:x.db" });
    expect(given).toMatchObject({ dataDir: join(elsewhere, "data"), database: { file: join(elsewhere, "x.db") } });
    write("other.env", `${readFileSync(file, "utf8")}FIELDGATE_DATA_DIR=data\nFIELDGATE_DATABASE_URL=sqlite:x.db\n`);
    expect(read()).toMatchObject({ dataDir: join(cwd, "data"), database: { file: join(cwd, "x.db") } });
    expect(loadConfig({}, { cwd: elsewhere, dev: true, file: null }).dataDir).toBe(join(elsewhere, ".fieldgate"));
    rmSync(elsewhere, { recursive: true });
  });

  it("refuses an unknown variable in the file", () => {
    write("fieldgate.env", `FIELDGATE_BASE_URLS=https://a.org\nFIELDGATE_SECRET=${secret}`);
    expect(() => loadConfig({}, { cwd })).toThrow(/Did you mean FIELDGATE_BASE_URL\?/);
  });

  it("warns of a file that others may read, and of lines that mean nothing", () => {
    const file = write(
      "fieldgate.env",
      `FIELDGATE_BASE_URL=https://a.org\nFIELDGATE_SECRET=${secret}\nCOLOUR=red`,
      0o644,
    );
    const warnings: string[] = [];
    loadConfig({}, { cwd, onWarning: (sentence) => warnings.push(sentence) });
    expect(warnings).toEqual([expect.stringContaining(`chmod 600 ${file}`), expect.stringContaining("COLOUR")]);
  });

  it("makes a secret in development, keeps it, and lets only its owner read it", () => {
    const first = loadConfig({}, { cwd, dev: true });
    const second = loadConfig({}, { cwd, dev: true });
    expect(first.secret).toHaveLength(32);
    expect(second.secret).toEqual(first.secret);
    expect(statSync(join(cwd, ".fieldgate", "development-secret")).mode & 0o777).toBe(0o600);
    expect(() => loadConfig({}, { cwd })).toThrow(ConfigError);
  });
});
