import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HttpJsonAdapter } from "./http-json-adapter.ts";
import { applyMapping } from "./mapping.ts";

const seen: { headers: IncomingMessage["headers"]; body: unknown; method: string | undefined; path: string }[] = [];
let status = 201;
const server = createServer(async (request, response) => {
  const text = (await request.toArray()).join("");
  seen.push({ headers: request.headers, body: JSON.parse(text), method: request.method, path: request.url ?? "" });
  response.writeHead(status).end("because");
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close().closeAllConnections());

const change = (id: string, type = "create-individual") => ({
  event: {
    id,
    entityId: "entity",
    type,
    data: {},
    author: null,
    deviceTime: "2026-01-01T00:00:00.000Z",
    sequence: 1,
    baseVersion: 0,
  },
  entity: {
    id: "entity",
    type: "individual",
    data: { names: { given: "Amina" } },
    members: [],
    version: 1,
    createdAt: "",
    updatedAt: "",
    unconfirmed: false,
  },
});
const signal = new AbortController().signal;

test("sends what the mapping says, once for each event, with the system's own headers", async () => {
  const adapter = new HttpJsonAdapter({
    name: "registry",
    url: ({ event }) => `${url}/people/${event.entityId}`,
    method: "PUT",
    headers: async () => ({ Authorization: "Bearer other" }),
    mapping: {
      "person.firstName": "entity.data.names.given",
      "person.lastName": "entity.data.names.family",
      v: () => 2,
    },
    wants: ({ event }) => event.type === "create-individual",
  });
  status = 201;
  expect(await adapter.send([change("a"), change("b", "record-visit")], { signal })).toEqual([
    { id: "a", status: "sent" },
    { id: "b", status: "skipped" },
  ]);
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    method: "PUT",
    path: "/people/entity",
    body: { person: { firstName: "Amina" }, v: 2 },
    headers: { "idempotency-key": "a", authorization: "Bearer other" },
  });
});

test.each([
  [200, "sent"],
  [409, "sent"],
  [422, "failed"],
  [404, "failed"],
])("an answer of %i means %s", async (code, result) => {
  status = code;
  const [only] = await new HttpJsonAdapter({ name: "registry", url }).send([change("a")], { signal });
  expect(only?.status).toBe(result);
  if (only?.status === "failed") expect(only.message).toBe(`registry answered ${code}: because`);
});

test.each([401, 403, 429, 500, 503])("an answer of %i is no verdict", async (code) => {
  status = code;
  const sending = new HttpJsonAdapter({ name: "registry", url }).send([change("a")], { signal });
  await expect(sending).rejects.toMatchObject({ code: "unreachable", status: code });
});

test("a configuration that cannot work names its field", () => {
  expect(() => new HttpJsonAdapter({ name: "", url })).toThrow(/^name/);
  expect(() => new HttpJsonAdapter({ name: "r", url: "nowhere" })).toThrow(/^url/);
  expect(() => new HttpJsonAdapter({ name: "r", url, mapping: { "a.__proto__.b": "event.id" } })).toThrow(/^mapping/);
  expect(applyMapping({ a: "entity.data.toString.name", b: "event.id" }, change("x"))).toEqual({ b: "x" });
});
