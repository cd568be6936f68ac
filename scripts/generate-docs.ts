/** `npm run docs`: writes the documents that are made from the contract. */
import { mkdirSync, writeFileSync } from "node:fs";
import { errorsDocument } from "./errors-document.ts";

const file = new URL("../docs/errors.md", import.meta.url);
mkdirSync(new URL(".", file), { recursive: true });
writeFileSync(file, errorsDocument());
console.log("docs/errors.md is up to date.");
