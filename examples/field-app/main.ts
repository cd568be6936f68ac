import { AuthManager } from "@fieldgate/client";
import { IndexedDbAuthStorageAdapter } from "@fieldgate/client/storage/indexed-db";
import { EntityDataManager, EventApplierService, InternalSyncManager } from "@fieldgate/entity-data";
import { IndexedDbEntityStore, IndexedDbEventStore } from "@fieldgate/entity-data/stores/indexed-db";

const server = document.documentElement.dataset.server ?? "http://localhost:3000";
const tenant = document.documentElement.dataset.tenant ?? "demo";

const auth = new AuthManager([], server, new IndexedDbAuthStorageAdapter(tenant));
const manager = new EntityDataManager(
  new IndexedDbEventStore(tenant),
  new IndexedDbEntityStore(tenant),
  new EventApplierService(),
  undefined,
  new InternalSyncManager(),
  auth,
);

const $ = <E extends HTMLElement>(selector: string) => document.querySelector(selector) as E;
const bar = $<HTMLProgressElement>("progress");

/** Shows what is on this device, for who is signed in or for nobody. */
async function show(): Promise<void> {
  const people = await manager.searchEntities({ type: "individual" });
  $("#people").replaceChildren(
    ...people.map(({ data, unconfirmed }) => {
      const { names, village } = data as { names?: { given?: string }; village?: string };
      const item = document.createElement("li");
      item.textContent = [names?.given, village, unconfirmed && "not sent yet"].filter(Boolean).join(", ");
      return item;
    }),
  );
  const count = await manager.getUnsyncedEventsCount();
  $("#unsynced").textContent = count > 0 ? `${count} to send` : "Everything is sent";
}

/** Does what a button asks for, and says what went wrong. */
async function run(work: () => Promise<string | undefined>): Promise<void> {
  $("#message").textContent = "";
  try {
    $("#message").textContent = (await work()) ?? "";
  } catch (error) {
    $("#message").textContent = (error as Error).message;
  }
  await show();
}

const fieldsOf = (form: HTMLFormElement) => Object.fromEntries(new FormData(form)) as Record<string, string>;

function onSubmit(selector: string, work: (fields: Record<string, string>) => Promise<string | undefined>): void {
  const form = $<HTMLFormElement>(selector);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const fields = fieldsOf(form);
    form.reset();
    void run(() => work(fields));
  });
}

onSubmit("#person", async ({ given = "", village = "" }) => {
  await manager.submitForm({ type: "create-individual", data: { names: { given }, ...(village && { village }) } });
  return undefined;
});

onSubmit("#sign-in", async ({ username = "", password = "" }) => {
  await manager.login({ username, password });
  return undefined;
});

$("#sync").addEventListener("click", () =>
  run(async () => {
    bar.hidden = false;
    try {
      const { pushed, pulled, rejected } = await manager.syncWithSyncServer({
        onProgress({ phase, done, total }) {
          bar.max = Math.max(total, 1);
          bar.value = phase === "pull" && total === 0 ? 1 : done;
        },
      });
      const refused = rejected.map(({ message }) => message).join(" ");
      return `Sent ${pushed}, received ${pulled}. ${refused}`.trim();
    } finally {
      bar.hidden = true;
    }
  }),
);

$("#logout").addEventListener("click", () =>
  run(async () => {
    const { unsynced } = await manager.logout();
    return unsynced ? `${unsynced} not sent: they stay on this device, locked, until you sign in again.` : undefined;
  }),
);

auth.subscribe((state) => {
  const isIn = "username" in state && state.status !== "expired";
  $("#session").hidden = !isIn;
  $("#sign-in").hidden = isIn;
  $("#username").textContent = isIn ? state.username : "";
});

await manager.initialize();
await show();
