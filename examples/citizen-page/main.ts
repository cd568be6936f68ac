import { AuthManager } from "@fieldgate/client";
import { IndexedDbAuthStorageAdapter } from "@fieldgate/client/storage/indexed-db";

const server = document.documentElement.dataset.server ?? "http://localhost:3000";
const ways = [{ type: "otp", fields: { serverUrl: server } }];
const auth = new AuthManager(ways, server, new IndexedDbAuthStorageAdapter("demo"));
const output = document.querySelector("output") as HTMLOutputElement;
auth.subscribe((state) => {
  output.textContent = "username" in state ? `${state.status}: ${state.username}` : state.status;
});
await auth.initialize();
document.querySelector("form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { recipient = "", code = "" } = Object.fromEntries(new FormData(event.target as HTMLFormElement)) as Record<
    string,
    string
  >;
  if (code === "") await auth.adapter("otp").requestOtp(recipient);
  else await auth.adapter("otp").verifyOtp(recipient, code);
});
