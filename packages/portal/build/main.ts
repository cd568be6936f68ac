import { buildPortal } from "./build-portal.ts";

const { folder, built } = await buildPortal();
process.stdout.write(`${built ? "Built" : "Up to date"}: ${folder}\n`);
