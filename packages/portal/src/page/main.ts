import "../sign-in/define.ts";
import "./page.css";
import { FieldgatePortal } from "./portal.ts";

customElements.define("fieldgate-portal", FieldgatePortal);

const workerScript = "./sw.js";

// The shell then opens without a network. It is not needed for this visit: the page comes first.
if ("serviceWorker" in navigator) {
  addEventListener("load", () => {
    const { trustedTypes } = globalThis as {
      trustedTypes?: { createPolicy(name: string, rules: object): ScriptPolicy };
    };
    const policy = trustedTypes?.createPolicy("fieldgate", { createScriptURL: () => workerScript });
    const script = policy?.createScriptURL("") ?? workerScript;
    // Without it the page works as well, while there is a network.
    navigator.serviceWorker.register(script as string).catch(() => undefined);
  });
}

interface ScriptPolicy {
  createScriptURL(address: string): unknown;
}
