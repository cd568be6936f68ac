import { expect, test } from "vitest";
import { createLogger } from "./request-log.ts";

function logged(line: object): string {
  let text = "";
  const write = (chunk: string) => {
    text += chunk;
  };
  createLogger("info", { write }).info(line, "said");
  return text;
}

test.each([
  { authorization: "Bearer open-sesame" },
  { headers: { authorization: "open-sesame", dpop: "open-sesame", "x-device-token": "open-sesame" } },
  { req: { headers: { cookie: "open-sesame" } }, res: { headers: { "set-cookie": "open-sesame" } } },
  { body: { password: "open-sesame", token: "open-sesame", refreshToken: "open-sesame" } },
  { list: [{ deep: { deeper: { Authorization: "open-sesame", "Set-Cookie": ["open-sesame"] } } }] },
  { session: { deviceToken: "open-sesame", refreshTokenHash: "open-sesame" }, secret: "open-sesame" },
])("a secret that is logged by mistake does not come out: %j", (line) => {
  expect(logged(line)).not.toContain("open-sesame");
  expect(logged(line)).toContain("[secret]");
});

test("lines have an ISO time and a level that people read", () => {
  const line = JSON.parse(logged({ a: 1 }));
  expect(line).toMatchObject({ level: "info", a: 1, msg: "said" });
  expect(new Date(line.time).toISOString()).toBe(line.time);
});

test("what was logged is left as it was", () => {
  const line = { body: { password: "open-sesame" } };
  logged(line);
  expect(line.body.password).toBe("open-sesame");
});

test("an error keeps its message and stack, whatever it is called", () => {
  const line = JSON.parse(logged({ err: new TypeError("no such key"), attempt: 2, nothing: null }));
  expect(line).toMatchObject({ attempt: 2, nothing: null, err: { type: "TypeError", message: "no such key" } });
  expect(line.err.stack).toContain("request-log.test.ts");
});
