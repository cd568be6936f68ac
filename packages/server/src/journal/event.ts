/**
 * What the journal knows. Events name people and sessions by their opaque ids and hold neither secrets nor personal
 * data, so that the journal may be kept when a person is erased.
 */
export const eventTypes = [
  "login.succeeded",
  "login.failed",
  "login.blocked",
  "session.refreshed",
  "session.reuse_detected",
  "session.ended",
  "provider.logged_out",
  "tenant.added",
  "tenant.changed",
  "worker.added",
  "worker.disabled",
  "worker.enabled",
  "worker.unlocked",
  "worker.roles_changed",
  "worker.password_changed",
  "worker.password_rehashed",
  "beneficiary.added",
  "beneficiary.changed",
  "beneficiary.disabled",
  "beneficiary.enabled",
  "beneficiary.merged",
  "beneficiary.erased",
  "beneficiary.revealed",
  "beneficiary.exported",
  "proposal.made",
  "proposal.accepted",
  "proposal.refused",
  "vault_key.created",
  "entity.erased",
  "notice.sent",
  "notice.undelivered",
  "otp.requested",
  "otp.sent",
  "otp.undelivered",
  "otp.verified",
  "otp.failed",
  "otp.blocked",
  "id.verified",
  "id.failed",
  "id.blocked",
  "qr.verified",
  "qr.failed",
  "issuer.added",
  "issuer.changed",
  "card.issued",
  "card.revoked",
  "data_keys.rotated",
  "key.created",
  "secret.rotated",
  "database.restored",
] as const;
export type EventType = (typeof eventTypes)[number];

export interface JournalEvent {
  readonly tenantId: string;
  readonly type: EventType;
  /** The opaque id of the person it is about. */
  readonly subject?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly data?: Readonly<Record<string, string | number | boolean>>;
}

/** Events of the deployment itself, and of tenants that do not exist. No tenant can have this id. */
export const deploymentTenant = "_";
