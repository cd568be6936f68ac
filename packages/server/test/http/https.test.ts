import { request as httpsRequest } from "node:https";
import { connect as connectTls } from "node:tls";
import { describe, expect, test } from "vitest";
import { certificateFiles } from "./certificate.ts";
import { get, startHttp } from "./http-kit.ts";
import { RawClient, rawExchange } from "./raw-client.ts";

const token = { authorization: "Bearer good" };

describe("in production", () => {
  test("plain http is 403, whatever it asks for", async () => {
    const server = await startHttp({ mode: "production" });
    for (const path of ["/api/users/check-token", "/nowhere", "/healthz/x", "/.well-known/jwks.json", "/?token=x"]) {
      const answer = await get(`${server.url}${path}`, token);
      expect(answer.status).toBe(403);
      expect(answer.body.code).toBe("https_required");
    }
    expect(server.reached()).toBe(0);
  });

  test("health is asked from inside, over plain http", async () => {
    const server = await startHttp({ mode: "production" });
    expect((await get(`${server.url}/healthz`)).status).toBe(200);
    expect((await get(`${server.url}/readyz`)).status).toBe(200);
  });

  test("a forwarded https counts only from a trusted proxy", async () => {
    const headers = { ...token, "x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.7" };
    const open = await startHttp({ mode: "production" });
    expect((await get(`${open.url}/api/users/check-token`, headers)).status).toBe(403);
    const other = await startHttp({ mode: "production", trustedProxies: ["10.0.0.0/8"] });
    expect((await get(`${other.url}/api/users/check-token`, headers)).status).toBe(403);
    const trusted = await startHttp({ mode: "production", trustedProxies: ["127.0.0.1"] });
    const answer = await get(`${trusted.url}/api/users/check-token`, headers);
    expect(answer.status).toBe(200);
    expect(answer.body.subject).toBe("198.51.100.7");
    const spoofed = await get(`${trusted.url}/api/users/check-token`, {
      ...headers,
      "x-forwarded-proto": "https, http",
    });
    expect(spoofed.status).toBe(403);
  });
});

describe("forwarded headers", () => {
  const lines = [
    "Host: real.example",
    "Authorization: Bearer good",
    "X-Forwarded-For: 1.1.1.1",
    "X-Forwarded-For: 198.51.100.7, 127.0.0.1",
    "X-Forwarded-Host: first.example, clinic.example:8443",
    "X-Request-Id: 7f0c8ad2-8a3f-4c8e-9a3b-3c2f4d5e6f70",
  ];
  const text = `GET /api/users/check-token HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;

  test("from anyone mean nothing", async () => {
    const server = await startHttp();
    const answer = await rawExchange(server.port, text);
    expect(JSON.parse(answer.body)).toMatchObject({ subject: "127.0.0.1", username: "real.example" });
    expect(answer.headers.get("x-request-id")).not.toBe("7f0c8ad2-8a3f-4c8e-9a3b-3c2f4d5e6f70");
  });

  test("from a trusted proxy are read from their right end", async () => {
    const server = await startHttp({ trustedProxies: ["127.0.0.0/8", "::1"] });
    const answer = await rawExchange(server.port, text);
    const id = "7f0c8ad2-8a3f-4c8e-9a3b-3c2f4d5e6f70";
    expect(JSON.parse(answer.body)).toMatchObject({ subject: "198.51.100.7", username: "clinic.example", scope: id });
    expect(answer.headers.get("x-request-id")).toBe(id);
  });

  test.each(["1", "not-an-id", "7F0C8AD2-8A3F-4C8E-9A3B-3C2F4D5E6F70", `${"a".repeat(200)}`])(
    "even a trusted proxy cannot set the request id to %s",
    async (id) => {
      const server = await startHttp({ trustedProxies: ["127.0.0.1"] });
      const answer = await get(`${server.url}/healthz`, { "x-request-id": id });
      expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(answer.headers.get("x-request-id")).not.toBe(id.toLowerCase());
    },
  );
});

describe("with a certificate", () => {
  test("the service speaks TLS itself, and that is https", async () => {
    const tls = certificateFiles();
    const server = await startHttp({ mode: "production", tls });
    const status = await new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: server.port, path: "/api/users/check-token", headers: token };
      const request = httpsRequest({ ...options, rejectUnauthorized: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      request.on("error", reject).end();
    });
    expect(status).toBe(200);
  });

  test("a bad request inside TLS is answered, plain text outside is not", async () => {
    const tls = certificateFiles();
    const server = await startHttp({ mode: "production", tls });
    const text = await new Promise<string>((resolve, reject) => {
      let received = "";
      const socket = connectTls({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false }, () =>
        socket.write("HELLO\r\n\r\n"),
      );
      socket.on("data", (chunk) => {
        received += chunk;
      });
      socket.on("error", reject).on("close", () => resolve(received));
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    const plain = new RawClient(server.port);
    plain.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await plain.untilClosed()).toEqual([]);
  });

  test("a certificate that cannot be read stops the start and is named", async () => {
    const { key } = certificateFiles();
    await expect(startHttp({ tls: { cert: "/nowhere/cert.pem", key } })).rejects.toThrow(
      "tls.cert: the file /nowhere/cert.pem cannot be read.",
    );
  });
});
