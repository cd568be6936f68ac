import { type AuthManager, ConfigurationError, type Credentials, type SignedIn } from "@fieldgate/client";
import type { CurrentUser } from "@fieldgate/contract";
import type { EventApplierService } from "./applier/event-applier-service.ts";
import { type AuditEntry, toTrail } from "./audit-trail.ts";
import type { Entity } from "./entities/entity.ts";
import type { EntityStore } from "./entities/entity-store.ts";
import { EntityDataError } from "./errors.ts";
import { checkForm, type Form } from "./events/event.ts";
import type { EventStore } from "./events/event-store.ts";
import type { ExternalSummary, ExternalSyncManager } from "./external/external-sync-manager.ts";
import { createListeners, type EntityDataListener } from "./listeners.ts";
import { once } from "./once.ts";
import { type Search, toMatcher } from "./search.ts";
import type { SyncOptions, SyncSummary } from "./sync/progress.ts";
import type { SyncManager } from "./sync/sync-session.ts";
import { isSamePerson, notAuthenticated, type SignedInPerson, Vault, whoIsIn } from "./vault/vault.ts";
import { createExternalSession, createSyncSession } from "./workspace/sessions.ts";
import { type ChainReport, verifyChain } from "./workspace/verify.ts";
import type { Submission } from "./workspace/workspace.ts";
import { Workspaces } from "./workspace/workspaces.ts";

/** What is left on the device after a logout. */
export interface LoggedOut {
  /** Events that the service does not have. They are kept, sealed, until their author signs in here again; null: unknown. */
  readonly unsynced: number | null;
}

/**
 * Collects forms as events, offline too, makes entities of them, and exchanges them with the service once somebody is signed in.
 * Everything it stores is sealed with a key of the person it belongs to, which leaves the device when they do.
 *
 * @example
 * const manager = new EntityDataManager(
 *   new IndexedDbEventStore("kenya"), new IndexedDbEntityStore("kenya"), new EventApplierService(),
 *   undefined, new InternalSyncManager(), auth,
 * );
 * await manager.submitForm({ type: "create-individual", data: { names: { given: "Amina" } } });
 * await manager.login({ username, password });
 * if (await manager.hasUnsyncedEvents()) await manager.syncWithSyncServer();
 */
export class EntityDataManager {
  readonly #events: EventStore;
  readonly #entities: EntityStore;
  readonly #external: ExternalSyncManager | undefined;
  readonly #internal: SyncManager | undefined;
  readonly #auth: AuthManager;
  readonly #vault: Vault;
  readonly #workspaces: Workspaces;
  readonly #listeners = createListeners();

  /** Opens the stores and reads who is signed in. Every other method does it when needed. */
  readonly initialize: () => Promise<void> = once(async () => {
    await Promise.all([this.#events.initialize(), this.#entities.initialize()]);
    await this.#vault.initialize();
  });

  /** Calls the listener with what happens. Returns the unsubscribe function. */
  readonly subscribe = (listener: EntityDataListener): (() => void) => this.#listeners.add(listener);

  constructor(
    eventStore: EventStore,
    entityStore: EntityStore,
    eventApplierService: EventApplierService,
    externalSyncManager: ExternalSyncManager | undefined,
    internalSyncManager: SyncManager | undefined,
    authManager: AuthManager,
  ) {
    for (const [name, { tenantId }] of Object.entries({ eventStore, entityStore })) {
      if (tenantId && authManager.tenantId && tenantId !== authManager.tenantId) {
        throw new ConfigurationError(name, `is of tenant "${tenantId}", the AuthManager of "${authManager.tenantId}"`);
      }
    }
    this.#events = eventStore;
    this.#entities = entityStore;
    this.#external = externalSyncManager;
    this.#internal = internalSyncManager;
    this.#auth = authManager;
    this.#vault = new Vault(authManager, () => this.#workspaces?.leave());
    const parts = { events: eventStore, entities: entityStore, appliers: eventApplierService };
    this.#workspaces = new Workspaces(parts, this.#vault, (cause) => this.#listeners.tell({ type: "problem", cause }));
  }

  /** Signs in through the AuthManager. What was written here before anybody signed in becomes this person's. */
  async login(credentials: Credentials): Promise<SignedIn> {
    const signedIn = await this.#auth.login(credentials);
    try {
      await this.#current();
    } catch (cause) {
      // The sign-in holds; what is stored here is opened when it is needed.
      this.#listeners.tell({ type: "problem", cause });
    }
    return signedIn;
  }

  /**
   * Ends the session, clears the stored tokens and deletes the key of what this person has on the device. Events that were not
   * synced are kept, and the result says how many there are.
   */
  async logout(): Promise<LoggedOut> {
    const person = whoIsIn(this.#auth);
    const unsynced = await this.getUnsyncedEventsCount().catch(() => null);
    try {
      await this.#auth.logout();
    } finally {
      if (person) await this.#vault.lock(person);
    }
    if (unsynced !== 0) this.#listeners.tell({ type: "unsyncedKept", count: unsynced });
    return { unsynced };
  }

  isAuthenticated(): Promise<boolean> {
    return this.#auth.isAuthenticated();
  }

  getCurrentUser(): Promise<CurrentUser | null> {
    return this.#auth.getCurrentUser();
  }

  /** Stores a form as an event, and what it makes of its entity. Resolves when both are on the disk. */
  async submitForm(form: Form): Promise<Submission> {
    const [submission] = await this.submitForms([form]);
    return submission as Submission;
  }

  /** Stores many forms, in their order. */
  async submitForms(forms: readonly Form[]): Promise<Submission[]> {
    const deviceTime = new Date().toISOString();
    const drafts = forms.map((form) => ({ ...checkForm(form), deviceTime }));
    if (new Set(drafts.map(({ id }) => id)).size < drafts.length) {
      throw new EntityDataError("invalid_event", "id is the same in two of the forms.", { field: "id" });
    }
    const { workspace, person } = await this.#current();
    const author = person && { username: person.username };
    const submissions = await this.#workspaces.writing(() => workspace.write(drafts, author));
    this.#changed(drafts.map(({ entityId }) => entityId));
    return submissions;
  }

  async getEntity(id: string): Promise<Entity | null> {
    return (await this.#current()).workspace.entity(id);
  }

  async getAllEntities(): Promise<Entity[]> {
    return this.searchEntities(() => true);
  }

  async searchEntities(search: Search): Promise<Entity[]> {
    const isWanted = toMatcher(search);
    const found: Entity[] = [];
    for await (const entity of (await this.#current()).workspace.all()) if (isWanted(entity)) found.push(entity);
    return found;
  }

  /** The members of a group, as far as they are known here. */
  async getMembers(groupId: string): Promise<Entity[]> {
    const { workspace } = await this.#current();
    const group = await workspace.entity(groupId);
    const members = await Promise.all((group?.members ?? []).map((id) => workspace.entity(id)));
    return members.filter((member) => member !== null);
  }

  /** Everything that happened to an entity: who, when, what became of it, and why it changed nothing where it did not. */
  async getAuditTrail(entityId: string): Promise<AuditEntry[]> {
    const { workspace } = await this.#current();
    return toTrail(await workspace.trail(entityId));
  }

  /** Events that the service, or this library before sending, refused, with their reasons. */
  async getRejectedEvents(): Promise<AuditEntry[]> {
    const { workspace } = await this.#current();
    const events = await workspace.log.read({ status: "rejected", limit: 1000 });
    return toTrail({ events, problems: new Map() });
  }

  /** Lets the next sync send rejected events once more; all, or those of the given ids. Gives how many. */
  async retryRejectedEvents(ids?: readonly string[]): Promise<number> {
    const { workspace } = await this.#current();
    const rejected = await workspace.log.read({ status: "rejected", limit: 1000 });
    const chosen = rejected.filter(({ event }) => ids === undefined || ids.includes(event.id));
    await workspace.settle(
      chosen.map(({ event: { id, entityId } }) => ({ id, entityId, status: "pending", receipt: null })),
    );
    return chosen.length;
  }

  /**
   * Whether there are events that the service does not have: of who is signed in and of nobody yet, or of anybody on this device
   * while nobody is signed in. Needs no key and no network.
   */
  async hasUnsyncedEvents(): Promise<boolean> {
    await this.initialize();
    const owner = await this.#vault.owner();
    const [isAnybodys, isOwn] = await Promise.all([
      this.#events.has("pending"),
      owner !== null && this.#events.has("pending", owner),
    ]);
    if (owner === null || isOwn || !isAnybodys) return isAnybodys;
    const devices = (await this.#vault.devices()).map((device) => this.#events.has("pending", device.owner));
    return (await Promise.all(devices)).includes(true);
  }

  async getUnsyncedEventsCount(): Promise<number> {
    await this.initialize();
    const owner = await this.#vault.owner();
    if (owner === null) return this.#events.count("pending");
    const owners = [owner, ...(await this.#vault.devices()).map((device) => device.owner)];
    const counts = await Promise.all(owners.map((each) => this.#events.count("pending", each)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * Sends what the service does not have, and takes in what this device does not have. Without a signed-in person it rejects with
   * `not_authenticated` and touches nothing.
   */
  async syncWithSyncServer(options: SyncOptions = {}): Promise<SyncSummary> {
    if (!(await this.#auth.isAuthenticated())) throw notAuthenticated();
    const internal = this.#internal;
    if (!internal) throw new EntityDataError("not_configured", "This manager has no internal sync manager.");
    await this.initialize();
    const { workspace, person } = await this.#workspaces.personal();
    const deviceId = await this.#workspaces.deviceId();
    return this.#whileSignedIn(person, options.signal, (signal) => {
      const onProgress: SyncOptions["onProgress"] = (progress) => {
        this.#listeners.tell({ type: "progress", ...progress });
        options.onProgress?.(progress);
      };
      const onChange = (ids: readonly string[]) => this.#changed(ids);
      const parts = { workspace, events: this.#events, deviceId, onChange, fetch: this.#fetchAs(person) };
      return internal.sync(createSyncSession(parts), { signal, onProgress });
    });
  }

  /** Forwards what was written here to the other system. */
  async syncWithExternalSystem(options: Pick<SyncOptions, "signal"> = {}): Promise<ExternalSummary> {
    if (!(await this.#auth.isAuthenticated())) throw notAuthenticated();
    const external = this.#external;
    if (!external) throw new EntityDataError("not_configured", "This manager has no external sync manager.");
    await this.initialize();
    const { workspace, person } = await this.#workspaces.personal();
    const deviceId = await this.#workspaces.deviceId();
    const session = createExternalSession({ workspace, events: this.#events, deviceId, onChange: () => {} });
    return this.#whileSignedIn(person, options.signal, (signal) => external.sync(session, signal));
  }

  /** Looks for events of this person that were changed, or are missing, on this device. */
  async verifyEvents(): Promise<ChainReport> {
    const { workspace, person } = await this.#current();
    const { owner } = workspace;
    const [first] = await this.#events.log(owner, { limit: 1 });
    // Of what belongs to nobody yet, the beginning may have been adopted.
    const startsAt = person === null ? (first?.sequence ?? 1) : 1;
    return verifyChain(workspace, (after, limit) => this.#events.log(owner, { after, limit }), startsAt);
  }

  /** Lets go of the stores. The AuthManager is its maker's to close. */
  async close(): Promise<void> {
    await this.#vault.close();
    await Promise.all([this.#events.close(), this.#entities.close()]);
  }

  async #current() {
    await this.initialize();
    return this.#workspaces.current();
  }

  #fetchAs(person: SignedInPerson): typeof fetch {
    return async (input, init) => {
      if (!isSamePerson(whoIsIn(this.#auth), person)) throw notAuthenticated();
      return this.#auth.fetch(input, init);
    };
  }

  #changed(entityIds: readonly string[]): void {
    if (entityIds.length > 0) this.#listeners.tell({ type: "changed", entityIds: [...new Set(entityIds)] });
  }

  /** Stops as soon as somebody else, or nobody, is signed in: nobody's events go out under another's name. */
  async #whileSignedIn<T>(
    person: SignedInPerson,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const gone = new AbortController();
    const unsubscribe = this.#auth.subscribe(() => {
      if (!isSamePerson(whoIsIn(this.#auth), person)) gone.abort(notAuthenticated());
    });
    try {
      return await work(signal ? AbortSignal.any([signal, gone.signal]) : gone.signal);
    } finally {
      unsubscribe();
    }
  }
}
