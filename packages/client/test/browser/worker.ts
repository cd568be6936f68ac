import { AuthManager } from "../../src/index.ts";
import { IndexedDbAuthStorageAdapter } from "../../src/storage/indexed-db.ts";

/** Signs in inside a Web Worker, and says what came of it. */
globalThis.onmessage = async ({ data }: MessageEvent<{ server: string; username: string; password: string }>) => {
  const storage = new IndexedDbAuthStorageAdapter("demo");
  const auth = new AuthManager([], data.server, storage, { checkInterval: 0 });
  try {
    const { username, token } = await auth.login(data);
    const isSame = (await auth.getToken()) === token;
    globalThis.postMessage({ username, isSame, status: auth.state.status, warning: storage.warning });
  } catch (error) {
    globalThis.postMessage({ error: String(error) });
  }
};
