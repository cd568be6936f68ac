import { type Static, Type } from "typebox";
import { component, ref, strictObject } from "./schema.ts";
import { TenantId } from "./tenant.ts";

export const LoginRequest = component(
  "LoginRequest",
  strictObject({
    username: Type.String({ minLength: 1, maxLength: 256 }),
    password: Type.String({ minLength: 1, maxLength: 1024 }),
    tenantId: Type.Optional(TenantId),
  }),
);
export type LoginRequest = Static<typeof LoginRequest>;

const RefreshToken = Type.String({ minLength: 1, maxLength: 512 });

export const RefreshRequest = component(
  "RefreshRequest",
  strictObject({ refreshToken: RefreshToken, tenantId: Type.Optional(TenantId) }),
);
export type RefreshRequest = Static<typeof RefreshRequest>;

export const LogoutRequest = component(
  "LogoutRequest",
  strictObject(
    {
      refreshToken: Type.Optional(RefreshToken),
      refreshTokenHash: Type.Optional(
        Type.String({
          pattern: "^(?:[A-Za-z0-9_-]{43}|[0-9a-fA-F]{64})$",
          description: "SHA-256 of a refresh token, base64url or hex: it can end that session and nothing else.",
        }),
      ),
      tenantId: Type.Optional(TenantId),
    },
    { description: "Which session to end; none is needed beside a Bearer token." },
  ),
);
export type LogoutRequest = Static<typeof LogoutRequest>;

export const Session = component(
  "Session",
  strictObject({
    username: Type.String(),
    userId: Type.String(),
    tenantId: TenantId,
    token: Type.String({ description: "The access token, a JWT." }),
    tokenType: Type.Literal("Bearer"),
    expiresIn: Type.Integer({ description: "Seconds the access token still lives." }),
    refreshToken: Type.String(),
    refreshExpiresIn: Type.Integer({ description: "Seconds the session lives on if it is not used." }),
    deviceToken: Type.String({ description: "Send it back as X-Device-Token: this device then has its own budgets." }),
  }),
);
export type Session = Static<typeof Session>;

const Instant = Type.String({ description: "ISO 8601, UTC." });

export const OwnSession = component(
  "OwnSession",
  strictObject({
    id: Type.String(),
    current: Type.Boolean({ description: "The session of the token that asks." }),
    provider: Type.String({ description: "The way the person signed in." }),
    assisted: Type.Boolean({ description: "A worker helped to sign in, and holds the token." }),
    createdAt: Instant,
    usedAt: Type.String({ description: "ISO 8601, UTC: when it was begun or last renewed." }),
    expiresAt: Instant,
  }),
);
export type OwnSession = Static<typeof OwnSession>;

export const OwnSessions = component(
  "OwnSessions",
  strictObject({ sessions: Type.Array(ref(OwnSession)) }, { description: "The newest first." }),
);
export type OwnSessions = Static<typeof OwnSessions>;
