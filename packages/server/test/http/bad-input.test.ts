import { beforeAll, beforeEach, expect, test } from "vitest";
import { get, openHttp, post, type TestServer } from "./http-kit.ts";
import { rawExchange } from "./raw-client.ts";

const login = "/api/users/login";
const json = { "content-type": "application/json" };

let server: TestServer;
let reachedBefore = 0;
const reached = () => server.reached() - reachedBefore;

beforeAll(async () => {
  server = await openHttp();
  return server.close;
});
beforeEach(() => {
  reachedBefore = server.reached();
  server.log.length = 0;
});

test.each([
  ["a missing field", { username: "amina" }, "password", "The field password is required."],
  ["a wrong type", { username: 1, password: "x" }, "username", "The field username must be a string."],
  ["null", { username: null, password: "x" }, "username", "The field username must be a string."],
  ["an object", { username: { $ne: "" }, password: "x" }, "username", "The field username must be a string."],
  ["an array", { username: ["amina"], password: "x" }, "username", "The field username must be a string."],
  ["an unknown field", { username: "a", password: "x", admin: true }, "admin", /^The field admin is not known here/],
  ["an empty string", { username: "", password: "x" }, "username", "The field username must not be empty."],
  ["too long a string", { username: "a".repeat(257), password: "x" }, "username", /at most 256 characters/],
  ["a bad form", { username: "a", password: "x", tenantId: "NO!" }, "tenantId", /not in the expected form/],
  ["a wrong alias", { email: true, password: "x" }, "email", "The field email must be a string."],
  ["an empty alias", { email: "", password: "x" }, "email", "The field email must not be empty."],
  ["an alias that differs", { email: "a", username: "b", password: "x" }, "email", /mean the same, but differ/],
])("%s is 400 and names the field", async (_what, body, field, message) => {
  const answer = await post(`${server.url}${login}`, JSON.stringify(body));
  expect(answer.status).toBe(400);
  expect(answer.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  expect(answer.body).toMatchObject({ code: "invalid_request", field, message: expect.stringMatching(message) });
  expect(reached()).toBe(0);
});

test.each([
  ["duplicate keys", '{"username":"a","password":"x","username":"b"}', "username"],
  ["duplicate keys in disguise", '{"username":"a","password":"x","\\u0075sername":"b"}', "username"],
  ["__proto__", '{"username":"a","password":"x","__proto__":{"admin":true}}', "__proto__"],
  ["constructor", '{"username":"a","password":"x","constructor":{"prototype":{}}}', "constructor"],
  ["NUL", '{"username":"a\\u0000","password":"x"}', "username"],
  ["a lone surrogate", '{"username":"a","password":"\\ud800"}', "password"],
])("%s in the text is 400 and names the field", async (_what, text, field) => {
  const answer = await post(`${server.url}${login}`, text);
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({ code: "invalid_request", field });
  expect(reached()).toBe(0);
});

test.each([
  ["no JSON", "username=a&password=x"],
  ["half a JSON", '{"username":"a"'],
  ["a list", '[{"username":"a","password":"x"}]'],
  ["a string", '"amina"'],
  ["null", "null"],
  ["a byte order mark", '\uFEFF{"username":"a","password":"x"}'],
  ["broken UTF-8", Uint8Array.of(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d)],
  ["nothing at all", ""],
  ["only spaces", "   "],
  ["endless depth", `{"username":${"[".repeat(8000)}${"]".repeat(8000)}}`],
])("%s is 400", async (_what, text) => {
  const answer = await post(`${server.url}${login}`, text);
  expect(answer.status).toBe(400);
  expect(answer.body.code).toBe("invalid_request");
  expect(reached()).toBe(0);
});

test("a body that is missing altogether is 400", async () => {
  const answer = await post(`${server.url}${login}`, undefined, {});
  expect(answer.status).toBe(400);
  expect(answer.body.message).toBe("A JSON body is needed, and none was sent.");
});

test.each([
  ["another type", { "content-type": "text/plain" }],
  ["a form", { "content-type": "application/x-www-form-urlencoded" }],
  ["no type", {}],
  ["another charset", { "content-type": "application/json; charset=utf-16" }],
  ["another parameter", { "content-type": "application/json; profile=x" }],
  ["what only looks like JSON", { "content-type": "application/json-patch+json" }],
  ["no media type at all", { "content-type": "json" }],
  ["a compressed body", { ...json, "content-encoding": "gzip" }],
])("%s is 415", async (_what, headers: Record<string, string>) => {
  const answer = await post(`${server.url}${login}`, '{"username":"a","password":"x"}', headers);
  expect(answer.status).toBe(415);
  expect(answer.body.code).toBe("unsupported_media_type");
  expect(reached()).toBe(0);
});

test.each(["application/json", "application/json;charset=utf-8", 'Application/JSON; Charset="UTF-8"'])(
  "%s is JSON",
  async (type) => {
    const answer = await post(`${server.url}${login}`, '{"email":"amina","password":"x"}', { "content-type": type });
    expect(answer.status).toBe(200);
    expect(answer.body.username).toBe("amina");
  },
);

test("16 KiB are read, one byte more is 413", async () => {
  const body = (bytes: number) => `{"username":"a","password":"x"${" ".repeat(bytes - 31)}}`;
  expect(body(16_384)).toHaveLength(16_384);
  expect((await post(`${server.url}${login}`, body(16_384))).status).toBe(200);
  const answer = await post(`${server.url}${login}`, body(16_385));
  expect(answer.status).toBe(413);
  expect(answer.body.code).toBe("payload_too_large");
  expect(reached()).toBe(1);
});

test("a body that does not say its size is 413 as soon as it is too large", async () => {
  const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
  const head = `POST ${login} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const answer = await rawExchange(server.port, head + chunk.repeat(5));
  expect(answer.status).toBe(413);
  expect(JSON.parse(answer.body).code).toBe("payload_too_large");
});

test("a body may be left out where the route says so, in every way a client may do that", async () => {
  const logout = `${server.url}/api/users/logout`;
  expect((await post(logout, undefined, {})).status).toBe(204);
  expect((await post(logout, undefined, json)).status).toBe(204);
  expect((await post(logout, "{}")).status).toBe(204);
  const empty = "POST /api/users/logout HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
  const none = "POST /api/users/logout HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const text of [empty, none]) {
    const answer = await rawExchange(server.port, text);
    expect(answer.status).toBe(204);
    expect(answer.headers.has("content-length")).toBe(false);
    expect(answer.headers.has("content-type")).toBe(false);
  }
  expect((await post(logout, '{"refreshToken":7}')).body.field).toBe("refreshToken");
});

test("a refusal never repeats what was sent, in the answer or in the log", async () => {
  const bodies = ['{"username":["open-sesame"],"password":"x"}', '{"password":"open-sesame" oops}'];
  for (const body of bodies) {
    expect((await post(`${server.url}${login}?q=open-sesame`, body)).text).not.toContain("sesame");
  }
  await get(`${server.url}/open-sesame?x=open-sesame`);
  expect(server.log).toHaveLength(3);
  expect(JSON.stringify(server.log)).not.toContain("sesame");
});

test.each([
  "/api/users/check-token?token=x",
  "/api/users/check-token?a=1&ACCESS_TOKEN=x",
  "/api/users/me?refreshToken=x",
  "/healthz?id_token=x",
  "/nowhere?refresh_token=x",
  "/api/users/check-token?t%6Fken=x",
])("%s has a token in the URL and is 400", async (path) => {
  const answer = await get(`${server.url}${path}`, { authorization: "Bearer good" });
  expect(answer.status).toBe(400);
  expect(answer.body.code).toBe("token_in_url");
  expect(reached()).toBe(0);
});

test("other query parameters are ignored", async () => {
  const answer = await get(`${server.url}/api/users/check-token?cache=7&x[]=1&%zz`, { authorization: "Bearer good" });
  expect(answer.status).toBe(200);
});
