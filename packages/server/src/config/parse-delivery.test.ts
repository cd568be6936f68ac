import { describe, expect, it } from "vitest";
import { parseDelivery } from "./parse-delivery.ts";

const readFile = (path: string) => {
  if (path === "channels.json") return '[{"type":"smtp","url":"smtps://mail.example.org","from":"a@example.org"}]';
  if (path === "ca.pem") return "-----BEGIN CERTIFICATE-----\nx";
  if (path === "letter.txt") return "Dear reader";
  throw Object.assign(new Error("no"), { code: "ENOENT" });
};

const parse = (value: unknown) => parseDelivery(typeof value === "string" ? value : JSON.stringify(value), readFile);

function channels(value: unknown) {
  const { channels: found, problems } = parse(value);
  expect(problems).toEqual([]);
  return found;
}

const smtp = { type: "smtp", url: "smtp://u:p%40ss@mail.example.org", from: "Kenya Cash <no-reply@example.org>" };
const smpp = { type: "smpp", url: "smpp://10.0.0.7", systemId: "fg", password: "s3cret", from: "KENYA" };
const http = { type: "http", url: "https://sms.example.org/send", json: { to: "{to}", text: "{text}" } };

describe("channels", () => {
  it("of email: TLS is demanded, a password is decoded", () => {
    expect(channels([smtp])).toEqual([
      {
        type: "smtp",
        medium: "email",
        name: "smtp",
        parallel: 5,
        timeoutMs: 15_000,
        host: "mail.example.org",
        port: 587,
        tls: "starttls",
        auth: { user: "u", password: "p@ss" },
        from: "Kenya Cash <no-reply@example.org>",
        ca: null,
      },
    ]);
    const own = { ...smtp, url: "smtps://[::1]:4465", ca: "ca.pem", name: "mail", parallel: 2, timeout: 5 };
    expect(channels([own])[0]).toMatchObject({ name: "mail", host: "::1", port: 4465, tls: "implicit", auth: null });
    expect(channels([{ ...smtp, url: "smtp://relay:25", tls: "none" }])[0]).toMatchObject({ tls: "none", port: 25 });
    expect(channels([{ ...smtp, url: "smtp://u:p@localhost" }])[0]).toMatchObject({ tls: "none" });
    expect(channels([{ ...smtp, url: "smtp://[::1]", tls: "required" }])[0]).toMatchObject({ tls: "starttls" });
  });

  it("of SMPP: the type of the sender follows from its form", () => {
    expect(channels([smpp])[0]).toMatchObject({
      host: "10.0.0.7",
      port: 2775,
      tls: false,
      from: { address: "KENYA", ton: 5, npi: 0 },
      enquireMs: 30_000,
      messageIds: "same",
      parallel: 10,
    });
    expect(channels([{ ...smpp, from: "+254700000000" }])[0]).toMatchObject({
      from: { address: "254700000000", ton: 1, npi: 1 },
    });
    expect(channels([{ ...smpp, from: "20880" }])[0]).toMatchObject({ from: { address: "20880", ton: 3, npi: 0 } });
    const own = { ...smpp, url: "smpps://smsc:4000", fromTon: 0, fromNpi: 8, messageIds: "hex" };
    expect(channels([own])[0]).toMatchObject({ tls: true, port: 4000, from: { ton: 0, npi: 8 }, messageIds: "hex" });
  });

  it("of any HTTP gateway", () => {
    expect(channels([http])[0]).toMatchObject({
      type: "http",
      medium: "sms",
      method: "POST",
      body: { kind: "json", value: { to: "{to}", text: "{text}" } },
      success: { status: { from: 200, to: 299 }, answer: null },
      refused: null,
      messageId: null,
    });
    const get = { type: "http", method: "GET", url: "http://10.0.0.7:8080/send?to={toDigits}&text={text}" };
    expect(channels([get])[0]).toMatchObject({ method: "GET", body: null });
    const xml = {
      type: "http",
      url: "https://a.org",
      text: "<sms to='{to}'>\n{text}</sms>",
      contentType: "text/xml",
      headers: { "X-Request": "{id}" },
      basicAuth: { user: "u", password: "p" },
      success: { status: [200, 202], path: "result[0].state", in: ["ok", 1] },
      refused: { path: "result[0].state", in: ["blocked"] },
      messageId: "result[0].id",
    };
    expect(channels([xml])[0]).toMatchObject({
      body: { kind: "text", contentType: "text/xml" },
      headers: { Authorization: "Basic dTpw", "X-Request": "{id}" },
      success: { status: { from: 200, to: 202 }, answer: { path: "result[0].state", in: ["ok", 1] } },
      messageId: "result[0].id",
    });
  });

  it("of gateways that many use, each as the request it makes", () => {
    const [twilio, vonage, talking] = channels([
      { type: "twilio", accountSid: "AC1", authToken: "tok", from: "+15005550006" },
      { type: "vonage", apiKey: "k", apiSecret: "s", from: "KENYA" },
      { type: "africastalking", username: "cash", apiKey: "k", name: "talking" },
    ]);
    expect(twilio).toMatchObject({
      name: "twilio",
      url: "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json",
      headers: { Authorization: `Basic ${Buffer.from("AC1:tok").toString("base64")}` },
      body: { kind: "form", fields: { To: "{to}", From: "+15005550006", Body: "{text}" } },
      messageId: "sid",
    });
    expect(vonage).toMatchObject({
      url: "https://rest.nexmo.com/sms/json",
      body: { fields: { api_key: "k", to: "{toDigits}", type: "{alphabet}" } },
      success: { answer: { path: "messages[0].status", in: ["0"] } },
    });
    expect(talking).toMatchObject({
      name: "talking",
      headers: { apiKey: "k" },
      body: { kind: "form", fields: { username: "cash", to: "{to}", message: "{text}" } },
    });
    const elsewhere = { type: "twilio", accountSid: "AC1", authToken: "t", messagingServiceSid: "MG1" };
    expect(channels([{ ...elsewhere, baseUrl: "https://api.dublin.ie1.twilio.com/" }])[0]).toMatchObject({
      url: "https://api.dublin.ie1.twilio.com/2010-04-01/Accounts/AC1/Messages.json",
      body: { fields: { To: "{to}", MessagingServiceSid: "MG1", Body: "{text}" } },
    });
  });

  it("from a file", () => {
    expect(channels("@channels.json")[0]).toMatchObject({ type: "smtp", port: 465 });
  });
});

describe("a bad channel is refused by name", () => {
  const first = "FIELDGATE_DELIVERY[0]";
  it.each<[string, unknown, string, string]>([
    ["no JSON", "[{]", "FIELDGATE_DELIVERY", "must be JSON"],
    ["no list", "{}", "FIELDGATE_DELIVERY", "list of channels"],
    ["an empty list", [], "FIELDGATE_DELIVERY", "list of channels"],
    ["a file that is none", "@none.json", "FIELDGATE_DELIVERY", "ENOENT"],
    ["no object", ["smtp"], first, "object"],
    ["no type", [{}], `${first}.type`, "is missing: one of smtp, smpp"],
    ["another type", [{ type: "smpt" }], `${first}.type`, "Did you mean smtp?"],
    ["a type of every object", [{ type: "constructor" }], `${first}.type`, "is not known"],
    ["a name with spaces", [{ ...smtp, name: "My mail" }], `${first}.name`, "lower-case"],
    ["a name twice", [smtp, smtp], "FIELDGATE_DELIVERY[1].name", "another channel"],
    ["a field that is none", [{ ...smtp, form: "x" }], `${first}.form`, "Did you mean from?"],
    ["too many at once", [{ ...smtp, parallel: 1000 }], `${first}.parallel`, "from 1 to 100"],
    ["a time-out beyond the claim", [{ ...smtp, timeout: 31 }], `${first}.timeout`, "from 1 to 30"],
    ["no server", [{ type: "smtp", from: "a@b.org" }], `${first}.url`, "is missing"],
    ["a server that is a page", [{ ...smtp, url: "https://mail.example.org" }], `${first}.url`, "must be like smtp://"],
    ["a user alone", [{ ...smtp, url: "smtp://u@mail.example.org" }], `${first}.url`, "no password"],
    ["no sender", [{ type: "smtp", url: "smtp://a" }], `${first}.from`, "is missing"],
    ["a sender that is none", [{ ...smtp, from: "Kenya Cash" }], `${first}.from`, "must be an address"],
    ["a password in the clear", [{ ...smtp, tls: "none" }], `${first}.tls`, "in the clear"],
    ["TLS and none", [{ ...smtp, url: "smtps://a.org", tls: "none" }], `${first}.tls`, "cannot be none"],
    ["a certificate that is none", [{ ...smtp, ca: "letter.txt" }], `${first}.ca`, "no PEM"],
    ["a certificate that is not there", [{ ...smtp, ca: "x.pem" }], `${first}.ca`, "ENOENT"],
    ["a user in an SMPP address", [{ ...smpp, url: "smpp://u:p@a" }], `${first}.url`, "own fields"],
    ["a sender that is too long", [{ ...smpp, from: "PROGRAMME OF KENYA" }], `${first}.from`, "up to 11 letters"],
    ["an address without a host", [{ ...http, url: "https:///send" }], `${first}.url`, "must be a URL"],
    ["a host that is filled in", [{ ...http, url: "https://{to}.org/" }], `${first}.url`, "must be a URL"],
    ["a user in an address", [{ ...http, url: "https://u:p@a.org/" }], `${first}.url`, "without a user"],
    ["a placeholder that is none", [{ ...http, json: { to: "{phone}" } }], `${first}.json`, "has {phone}"],
    ["a text in a header", [{ ...http, headers: { A: "{text}" } }], `${first}.headers.A`, "has {text}"],
    ["a line break in a header", [{ ...http, headers: { A: "x\r\nB: y" } }], `${first}.headers.A`, "a text"],
    ["a header that is none", [{ ...http, headers: { "A B": "x" } }], `${first}.headers.A B`, "no name"],
    ["two bodies", [{ ...http, form: { a: "b" } }], first, "json and form"],
    ["no body", [{ type: "http", url: "https://a.org" }], first, "needs a body"],
    ["a body with GET", [{ ...http, method: "GET" }], `${first}.json`, "GET has its values in the url"],
    ["a status that is none", [{ ...http, success: { status: [200] } }], `${first}.success.status`, "range"],
    ["a path that is none", [{ ...http, messageId: "a..b" }], `${first}.messageId`, "must be a path"],
    ["a rule without values", [{ ...http, refused: { path: "a" } }], `${first}.refused.in`, "list of values"],
    ["a preset without its fields", [{ type: "vonage", apiKey: "k", from: "A" }], `${first}.apiSecret`, "API secret"],
    ["a sender of neither kind", [{ type: "twilio", accountSid: "A", authToken: "t" }], first, "from or messaging"],
  ])("%s", (_, value, variable, sentence) => {
    const { problems } = parse(value);
    expect(problems.map((problem) => problem.variable)).toEqual([variable]);
    expect(problems[0]?.sentence).toContain(sentence);
    expect(problems[0]?.sentence).toMatch(/\.$/);
  });

  it("without telling a secret", () => {
    const secret = "hunter2";
    const bad = [
      `[{"type":"smtp","url":"smtp://u:${secret}`,
      [{ ...smtp, url: `ftp://u:${secret}@a.org` }],
      [{ ...smpp, password: `${secret}ü` }],
      [{ ...http, headers: { A: `${secret}\n` } }],
      [{ type: "twilio", accountSid: "A", authToken: `${secret}{}`, from: "B" }],
    ];
    for (const value of bad) {
      const { problems } = parse(value);
      expect(problems.length).toBeGreaterThan(0);
      expect(JSON.stringify(problems)).not.toContain(secret);
    }
  });
});
