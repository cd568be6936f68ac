/** Keeps the shell of the portal, so that it opens without a network. What the service says is never kept. */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends WorkerEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

declare const __BUILD__: string;
const cacheName = `fieldgate-${__BUILD__}`;
const worker = globalThis as unknown as EventTarget & {
  readonly registration: { readonly scope: string };
  skipWaiting(): Promise<void>;
  readonly clients: { claim(): Promise<void> };
};
const patience = 4000;

worker.addEventListener("install", (event) =>
  (event as WorkerEvent).waitUntil(keepShell().then(() => worker.skipWaiting())),
);
worker.addEventListener("activate", (event) =>
  (event as WorkerEvent).waitUntil(dropOthers().then(() => worker.clients.claim())),
);
worker.addEventListener("fetch", (event) => {
  const { request } = event as FetchEvent;
  const { scope } = worker.registration;
  if (request.method !== "GET" || !request.url.startsWith(scope)) return;
  const path = request.url.slice(scope.length).replace(/[?#].*$/, "");
  if (path === "") (event as FetchEvent).respondWith(page(request));
  else if (path.startsWith("assets/")) (event as FetchEvent).respondWith(asset(request));
});

async function keepShell(): Promise<void> {
  const { scope } = worker.registration;
  const answer = await fetch(scope, { cache: "no-cache" });
  if (!answer.ok) throw new Error(`The page answered ${answer.status}.`);
  const cache = await caches.open(cacheName);
  // The page has its script, style and language in it.
  await cache.put(scope, answer);
}

async function dropOthers(): Promise<void> {
  for (const name of await caches.keys()) if (name !== cacheName) await caches.delete(name);
}

/** The newest page there is; the kept one when the network takes too long. */
async function page(request: Request): Promise<Response> {
  const { scope } = worker.registration;
  const cache = await caches.open(cacheName);
  // A programme that the address names has a page of its own: only the plain address stands for all.
  const isPlain = request.url === scope;
  const fresh = fetch(request).then(async (answer) => {
    if (answer.ok && isPlain) await cache.put(scope, answer.clone());
    return answer;
  });
  const kept = await cache.match(scope);
  if (!kept) return fresh;
  const late = new Promise<Response>((resolve) => setTimeout(() => resolve(kept), patience));
  return Promise.race([fresh.catch(() => kept), late]);
}

/** Names of assets have a hash in them: what is kept is right. */
async function asset(request: Request): Promise<Response> {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(request);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}
