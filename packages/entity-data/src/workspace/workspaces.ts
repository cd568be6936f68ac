import { runAlone } from "../alone.ts";
import type { Cipher } from "../vault/cipher.ts";
import type { SignedInPerson, Vault } from "../vault/vault.ts";
import { Workspace, type WorkspaceParts } from "./workspace.ts";

export interface OpenWorkspace {
  readonly workspace: Workspace;
  readonly person: SignedInPerson | null;
}

/** The workspaces of those who use this device, one at a time. */
export class Workspaces {
  readonly #parts: WorkspaceParts;
  readonly #vault: Vault;
  readonly #onProblem: (cause: unknown) => void;
  readonly #opened = new Map<string, Promise<Workspace>>();
  #deviceId: Promise<string> | undefined;
  /** Who has adopted what there was. */
  #adopter: string | undefined;

  constructor(parts: WorkspaceParts, vault: Vault, onProblem: (cause: unknown) => void) {
    this.#parts = parts;
    this.#vault = vault;
    this.#onProblem = onProblem;
  }

  /** Where what is written now belongs: to who is signed in, else to nobody yet. */
  async current(): Promise<OpenWorkspace> {
    const { person, cipher } = await this.#vault.seat();
    if (!person) this.#adopter = undefined;
    return { person, workspace: await this.#enter(person, cipher) };
  }

  /** Lets go of everybody's keys. */
  leave(): void {
    this.#opened.clear();
    this.#adopter = undefined;
  }

  /** The workspace of who is signed in. */
  async personal(): Promise<OpenWorkspace & { readonly person: SignedInPerson }> {
    const { person, cipher } = await this.#vault.personalSeat();
    // Another tab may have written before it knew of the sign-in.
    this.#adopter = undefined;
    return { person, workspace: await this.#enter(person, cipher) };
  }

  /** Runs work that writes to logs, while no other tab does. */
  async writing<T>(work: () => Promise<T>): Promise<T> {
    return runAlone(`fieldgate-write:${await this.deviceId()}`, work);
  }

  /** What this installation calls itself. */
  deviceId(): Promise<string> {
    this.#deviceId ??= this.#findDeviceId().catch((error) => {
      this.#deviceId = undefined;
      throw error;
    });
    return this.#deviceId;
  }

  async #enter(person: SignedInPerson | null, cipher: Cipher): Promise<Workspace> {
    const workspace = await this.#open(cipher);
    if (!person || this.#adopter === workspace.owner) return workspace;
    try {
      await this.#adopt(workspace, person);
      this.#adopter = workspace.owner;
    } catch (cause) {
      this.#onProblem(cause);
    }
    return workspace;
  }

  #open(cipher: Cipher): Promise<Workspace> {
    const known = this.#opened.get(cipher.owner);
    if (known) return known;
    const opening = (async () => {
      const workspace = new Workspace(this.#parts, cipher);
      await this.writing(() => workspace.recover());
      return workspace;
    })();
    this.#opened.set(cipher.owner, opening);
    opening.catch(() => this.#opened.delete(cipher.owner));
    return opening;
  }

  /** Gives a signed-in person what was written here before. Each event moves in one step: it has always exactly one owner. */
  async #adopt(workspace: Workspace, { username }: SignedInPerson): Promise<void> {
    for (const cipher of await this.#vault.devices()) {
      if (!(await this.#parts.events.has("pending", cipher.owner))) continue;
      const device = await this.#open(cipher);
      await this.writing(async () => {
        for (;;) {
          const page = await device.log.read({ limit: 200 });
          if (page.length === 0) return;
          const drafts = page.map(({ event: { id, entityId, type, data, deviceTime } }) => {
            return { id, entityId, type, data, deviceTime };
          });
          await workspace.write(drafts, { username }, cipher.owner);
          await device.entities.remove(drafts.map(({ entityId }) => entityId));
        }
      });
    }
  }

  async #findDeviceId(): Promise<string> {
    const { events } = this.#parts;
    const known = await events.getState("device-id");
    if (known !== null) return known;
    await events.setState("device-id", crypto.randomUUID());
    return (await events.getState("device-id")) as string;
  }
}
