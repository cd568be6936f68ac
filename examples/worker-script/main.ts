import { parseArgs } from "node:util";
import { AuthManager } from "@fieldgate/client";
import { FileAuthStorageAdapter } from "@fieldgate/client/storage/file";

/** Signs a worker in once, and stays signed in from then on: npx node examples/worker-script/main.ts --server URL --username NAME < password.txt */
const { values } = parseArgs({
  options: {
    server: { type: "string", default: "http://localhost:3000" },
    tenant: { type: "string", default: "demo" },
    directory: { type: "string" },
    username: { type: "string" },
    logout: { type: "boolean", default: false },
  },
});

async function readPassword(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin) text += chunk;
  return text.trimEnd();
}

const auth = new AuthManager([], values.server, new FileAuthStorageAdapter(values.tenant, values.directory));
try {
  await auth.initialize();
  if (values.logout) await auth.logout();
  else if (!(await auth.isAuthenticated())) {
    await auth.login({ username: values.username ?? "", password: await readPassword() });
  }
  const user = await auth.getCurrentUser();
  process.stdout.write(`${user ? `signed in as ${user.username} (${user.roles.join(", ")})` : "signed out"}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  await auth.close();
}
