import { type Static, Type } from "typebox";
import { component, strictObject } from "./schema.ts";
import { TenantId } from "./tenant.ts";

const Recipient = Type.String({
  minLength: 3,
  maxLength: 320,
  description: "A phone number, international or in the tenant's country, or an email address.",
});
const Code = Type.String({ pattern: "^[0-9]{6}$", description: "The 6 digits, as text: leading zeros count." });
const Handle = Type.String({ minLength: 16, maxLength: 512 });

export const OtpRequest = component(
  "OtpRequest",
  strictObject({ recipient: Recipient, tenantId: Type.Optional(TenantId) }),
);
export type OtpRequest = Static<typeof OtpRequest>;

export const OtpSent = component(
  "OtpSent",
  strictObject({
    success: Type.Literal(true),
    expiresIn: Type.Integer({ description: "Seconds for which the code is good." }),
  }),
);
export type OtpSent = Static<typeof OtpSent>;

export const OtpVerifyRequest = component(
  "OtpVerifyRequest",
  strictObject(
    {
      recipient: Type.Optional(Recipient),
      code: Type.Optional(Code),
      selectionToken: Type.Optional(Handle),
      entityId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
      birthYear: Type.Optional(Type.Integer({ description: "Where the tenant asks for it with a choice." })),
      challenge: Type.Optional(Handle),
      tenantId: Type.Optional(TenantId),
    },
    {
      description:
        "One of three: recipient and code; selectionToken and entityId, to choose a person of a household; challenge and code, to complete a second step.",
    },
  ),
);
export type OtpVerifyRequest = Static<typeof OtpVerifyRequest>;

export const IdVerifyRequest = component(
  "IdVerifyRequest",
  strictObject({
    idNumber: Type.String({ minLength: 1, maxLength: 128 }),
    dateOfBirth: Type.String({
      pattern: "^[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?$",
      description: "ISO 8601: a day, or a month or a year where that is all that is known.",
    }),
    tenantId: Type.Optional(TenantId),
  }),
);
export type IdVerifyRequest = Static<typeof IdVerifyRequest>;

export const QrVerifyRequest = component(
  "QrVerifyRequest",
  strictObject({
    qrPayload: Type.String({ minLength: 1, maxLength: 8192, description: "The text of the scanned code, unchanged." }),
    assisted: Type.Optional(
      Type.Boolean({ description: "A signed-in worker with the right to assist presents the card (Bearer)." }),
    ),
    tenantId: Type.Optional(TenantId),
  }),
);
export type QrVerifyRequest = Static<typeof QrVerifyRequest>;

/** What every way in for citizens answers. Citizens have no refresh token. */
export const CitizenSession = component(
  "CitizenSession",
  strictObject({
    username: Type.String({ description: "self-service:{entityId}" }),
    token: Type.String({ description: "The access token, a JWT with the scope self-service." }),
    tokenType: Type.Literal("Bearer"),
    expiresIn: Type.Integer({ description: "Seconds the token still lives." }),
    deviceToken: Type.Optional(
      Type.String({
        description:
          "Send it back as X-Device-Token: this device then has its own budgets. Not there when a worker helped: the device is not the citizen's.",
      }),
    ),
  }),
);
export type CitizenSession = Static<typeof CitizenSession>;

/** A person of a household that shares a phone. */
export const SelectionChoice = component(
  "SelectionChoice",
  strictObject({ entityId: Type.String(), label: Type.String({ description: "Given names only." }) }),
);
export type SelectionChoice = Static<typeof SelectionChoice>;
