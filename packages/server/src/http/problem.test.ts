import { type ErrorCode, errorCodes, errors } from "@fieldgate/contract";
import { describe, expect, test } from "vitest";
import { Fault } from "../fault.ts";
import { StoreUnavailable } from "../store/store.ts";
import { inSentNames, renameAliases } from "./aliases.ts";
import { describeError } from "./describe-error.ts";
import { problemBody, toFault } from "./problem.ts";
import { validationFault } from "./validation-fault.ts";

const id = "0b9ff0a0-8d8c-4b4e-9d3c-1f1f5d1c2b3a";

describe("problemBody", () => {
  test.each(errorCodes)("%s is a Problem of the contract", (code: ErrorCode) => {
    const body = JSON.parse(problemBody(new Fault(code, { field: 'a"b' }), id));
    expect(body).toEqual({
      type: `/docs/errors#${code}`,
      title: errors[code].title,
      status: errors[code].status,
      detail: errors[code].detail,
      code,
      error: code,
      message: errors[code].detail,
      instance: `urn:uuid:${id}`,
      field: 'a"b',
    });
  });

  test("what helps to go on comes last", () => {
    const fault = new Fault("invalid_request", { field: "a", extra: { challenge: "c", expiresIn: 7 } });
    expect(Object.keys(JSON.parse(problemBody(fault, id))).slice(-4)).toEqual([
      "instance",
      "field",
      "challenge",
      "expiresIn",
    ]);
    expect(JSON.parse(problemBody(new Fault("busy", { extra: {} }), id))).not.toHaveProperty("challenge");
  });

  test("its keys have one order, and it has no field where none is wrong", () => {
    expect(Object.keys(JSON.parse(problemBody(new Fault("busy"), id)))).toEqual([
      "type",
      "title",
      "status",
      "detail",
      "code",
      "error",
      "message",
      "instance",
    ]);
  });
});

describe("toFault", () => {
  test("a database that is away is 503, never a verdict", () => {
    expect(toFault(new StoreUnavailable("gone"))).toMatchObject({ code: "unavailable" });
  });

  test.each([new Error("SELECT secret"), Object.assign(new Error("x"), { statusCode: 418 }), "text", null, undefined])(
    "%j is internal, and its words stay inside",
    (thrown) => {
      const fault = toFault(thrown);
      expect(fault.code).toBe("internal");
      expect(fault.message).toBe(errors.internal.detail);
      expect(fault.cause).toBe(thrown);
    },
  );
});

describe("validationFault", () => {
  const fault = (keyword: string, instancePath: string, params: Record<string, unknown> = {}) =>
    validationFault(Object.assign(new Error("x"), { validation: [{ keyword, instancePath, params }] }));

  test.each([
    [fault("required", "", { missingProperty: "password" }), "password", "The field password is required."],
    [
      fault("required", "/adapters/0", { missingProperty: "type" }),
      "adapters[0].type",
      "The field adapters[0].type is required.",
    ],
    [
      fault("type", "/adapters/12/type", { type: "string" }),
      "adapters[12].type",
      "The field adapters[12].type must be a string.",
    ],
    [fault("type", "/count", { type: "integer" }), "count", "The field count must be an integer."],
    [fault("minLength", "/username", { limit: 1 }), "username", "The field username must not be empty."],
    [
      fault("maxLength", "/username", { limit: 256 }),
      "username",
      "The field username must have at most 256 characters.",
    ],
    [fault("enum", "/type", { allowedValues: ["otp", "id"] }), "type", "The field type must be one of: otp, id."],
    [fault("pattern", "/a~1b", {}), "a/b", "The field a/b is not in the expected form."],
    [fault("type", "", { type: "object" }), undefined, "The body must be an object."],
  ])("%#", (found, field, message) => {
    expect(found.field).toBe(field);
    expect(found.message).toBe(message);
  });

  test("the name of an unknown field is shown only as far as it is printable and short", () => {
    const named = fault("additionalProperties", "", { additionalProperty: `a\n\u202E${"x".repeat(500)}` });
    expect(named.field).toMatch(/^a\?\?x{74}\.\.\.$/);
  });
});

describe("aliases", () => {
  const aliases = { email: "username" };

  test("an alias becomes its canonical name", () => {
    const body = { email: "amina" };
    renameAliases(body, aliases);
    expect(body).toEqual({ username: "amina" });
  });

  test("both pass when they are equal, and are refused when they differ", () => {
    const body = { email: "amina", username: "amina" };
    renameAliases(body, aliases);
    expect(body).toEqual({ username: "amina" });
    expect(() => renameAliases({ email: "a", username: "b" }, aliases)).toThrow(
      expect.objectContaining({ code: "invalid_request", field: "email" }),
    );
    expect(() => renameAliases({ email: undefined, username: "b" }, aliases)).toThrow(Fault);
  });

  test("a fault names what the client really sent", () => {
    const body = { email: 3 };
    renameAliases(body, aliases);
    const fault = new Fault("invalid_request", { field: "username", message: "The field username must be a string." });
    expect(inSentNames(fault, body)).toMatchObject({ field: "email", message: "The field email must be a string." });
    expect(inSentNames(fault, { username: 3 })).toBe(fault);
  });
});

test("describeError leaves out what a database adds to its errors", () => {
  const row = Object.assign(new Error("duplicate key"), { code: "23505", detail: "Key (username)=(amina) exists." });
  const described = describeError(new Error("outer", { cause: row }));
  expect(described).toMatchObject({
    type: "Error",
    message: "outer",
    cause: { message: "duplicate key", code: "23505" },
  });
  expect(JSON.stringify(described)).not.toContain("amina");
});
