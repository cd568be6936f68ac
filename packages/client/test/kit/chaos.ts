import type { Browser, BrowserContext, Page } from "playwright-core";
import type { TestNode } from "../../../server/test/kit/node.ts";
import type { LossyProxy } from "./lossy-proxy.ts";
import type { PageServer } from "./page-server.ts";
import { wait } from "./service.ts";

export interface ChaosOptions {
  readonly browser: Browser;
  readonly pages: PageServer;
  readonly proxy: LossyProxy;
  readonly node: TestNode;
  readonly credentials: { readonly username: string; readonly password: string };
  readonly tabs: number;
  readonly rotations: number;
  /** The chance that an answer, or a request, is lost. */
  readonly loss: number;
}

export interface ChaosReport {
  readonly rotations: number;
  readonly killed: number;
  readonly frozen: number;
  /** How often a tab found itself signed out. */
  readonly falseLogouts: string[];
  /** Answers to a copied refresh token that was replayed from outside. */
  readonly replays: Record<string, number>;
  /** Sessions that live at the server when all is over. */
  readonly livingSessions: number;
  /** Whether a new tab still gets a token. */
  readonly isAlive: boolean;
}

interface TabWindow {
  stop: boolean;
  bad: string[];
  storage: { get(provider: string): Promise<{ refreshToken?: string } | null> };
}

/** Many tabs renew one session as fast as they can, over a network that loses much, while tabs are frozen and killed. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { browser, pages, proxy, node, credentials } = options;
  const context = await browser.newContext();
  const falseLogouts: string[] = [];
  const replays: Record<string, number> = {};
  let killed = 0;
  let frozen = 0;
  const rotations = () =>
    proxy.seen.filter(({ path, status }) => path === "/api/users/refresh" && status === 200).length;

  const first = await openTab(context, pages, proxy);
  await first.evaluate((worker) => auth.login(worker), credentials);
  const tabs = new Set<Page>([first]);
  while (tabs.size < options.tabs) tabs.add(await openTab(context, pages, proxy));
  proxy.loss.answer = options.loss;
  proxy.loss.request = options.loss / 3;
  for (const tab of tabs) await begin(tab);

  const deadline = performance.now() + 1000 * (60 + options.rotations * 2);
  for (let round = 1; rotations() < options.rotations && performance.now() < deadline; round++) {
    await wait(300);
    const victim = [...tabs][Math.floor(Math.random() * tabs.size)] as Page;
    if (round % 3 === 0) {
      killed++;
      falseLogouts.push(...(await complaints(victim)));
      tabs.delete(victim);
      await victim.close({ runBeforeUnload: false });
      const replacement = await openTab(context, pages, proxy);
      tabs.add(replacement);
      await begin(replacement);
    } else if (round % 3 === 1) {
      frozen++;
      const session = await context.newCDPSession(victim);
      await session.send("Page.setWebLifecycleState", { state: "frozen" });
      setTimeout(() => session.send("Page.setWebLifecycleState", { state: "active" }).catch(() => undefined), 700);
    } else {
      const copied = await readRefreshToken([...tabs]);
      if (copied !== undefined) {
        const { status, body } = await node.api.refresh(copied);
        const outcome = `${status} ${body.code}`;
        replays[outcome] = (replays[outcome] ?? 0) + 1;
      }
    }
  }

  proxy.loss.answer = 0;
  proxy.loss.request = 0;
  await wait(1000);
  for (const tab of tabs) falseLogouts.push(...(await complaints(tab)));
  const last = await openTab(context, pages, proxy);
  const isAlive = await last.evaluate(async () => {
    const window = globalThis as unknown as { device: { offset: number } };
    window.device.offset += 601_000;
    return (await auth.getToken()) !== null && auth.state.status === "signedIn";
  });
  const report = { rotations: rotations(), killed, frozen, falseLogouts, replays, isAlive };
  await context.close();
  const { living } = await node.app.services.store.db
    .selectFrom("sessions")
    .select(({ fn }) => fn.countAll<number>().as("living"))
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  return { ...report, livingSessions: Number(living) };
}

async function openTab(context: BrowserContext, pages: PageServer, proxy: LossyProxy): Promise<Page> {
  const page = await context.newPage();
  await page.goto(pages.url);
  await page.waitForFunction(() => "kit" in globalThis);
  await page.evaluate(async (server) => {
    const storage = new kit.IndexedDbAuthStorageAdapter("demo");
    const device = { offset: 0 };
    const now = () => Date.now() + device.offset;
    const options = { checkInterval: 0, now, timeout: 2, lockWait: 1 };
    globalThis.auth = new kit.AuthManager([], server, storage, options);
    Object.assign(globalThis, { storage, device, stop: false, bad: [] });
    await auth.initialize();
  }, proxy.url);
  return page;
}

/** Lets a tab renew the session over and over, and note whenever it finds itself signed out. */
async function begin(page: Page): Promise<void> {
  await page.evaluate(() => {
    const window = globalThis as unknown as TabWindow & { device: { offset: number } };
    auth.subscribe((state, event) => {
      if (state.status === "signedOut" || state.status === "expired") {
        window.bad.push(JSON.stringify([state, event]));
      }
    });
    (async () => {
      while (!window.stop) {
        window.device.offset += 601_000;
        await auth.getToken().catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 200));
      }
    })();
  });
}

async function complaints(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const window = globalThis as unknown as TabWindow;
    window.stop = true;
    return window.bad;
  });
}

async function readRefreshToken(tabs: Page[]): Promise<string | undefined> {
  const read = (tab: Page) =>
    tab.evaluate(async () => (await (globalThis as unknown as TabWindow).storage.get("password"))?.refreshToken);
  return Promise.any(tabs.map(read));
}
