import { readFileSync } from "node:fs";
import type { App } from "@fieldgate/server";
import type { Inbox, InboxMessage } from "./inbox.ts";
import { serveLocally } from "./local-page.ts";

/** Shows the inbox to whoever is at this machine: as a page, and as JSON for programs. */
export function registerInbox(http: App["http"], inbox: Inbox): void {
  const style = readFileSync(new URL("./inbox.css", import.meta.url));
  serveLocally(http, "/dev/inbox", "text/html; charset=utf-8", () => renderInbox(inbox.messages()));
  serveLocally(http, "/dev/inbox/messages", "application/json; charset=utf-8", () => JSON.stringify(inbox.messages()));
  serveLocally(http, "/dev/inbox/style.css", "text/css; charset=utf-8", () => style);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

function renderInbox(messages: readonly InboxMessage[]): string {
  const list = messages.map(renderMessage).join("\n");
  const nothing = "<p>Nothing yet. Ask for a code, and it appears here within a second.</p>";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="3">
<title>Development inbox</title>
<link rel="stylesheet" href="/dev/inbox/style.css">
</head>
<body>
<h1>Development inbox</h1>
<p class="note">What the demo would have sent. It is kept in memory, the last 200 of them; the page looks again every 3
seconds. Programs read <a href="/dev/inbox/messages">the same as JSON</a>.</p>
<main>${messages.length === 0 ? nothing : list}</main>
</body>
</html>
`;
}

function renderMessage({ to, medium, subject, text, at, code }: InboxMessage): string {
  const how = medium === "sms" ? "SMS" : "Email";
  return `<article>
<header><strong>${how} to ${escapeHtml(to)}</strong> <time datetime="${at}">${at.slice(11, 19)} UTC</time></header>
${medium === "email" ? `<h2>${escapeHtml(subject)}</h2>` : ""}
<p class="text" dir="auto">${escapeHtml(text)}</p>
${code === null ? "" : `<p class="code">Code <output>${code}</output></p>`}
</article>`;
}
