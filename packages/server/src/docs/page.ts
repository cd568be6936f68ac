import { type Html, html } from "./html.ts";

export interface Page {
  readonly title: string;
  /** From this page to the folder that holds the style sheet: the service may live below a path of its host. */
  readonly assets: string;
  readonly nav: Html;
  readonly main: Html;
  readonly version: string;
}

/** The frame of every page. It works without scripts, and asks no other host for anything. */
export function renderPage({ title, assets, nav, main, version }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${assets}style.css">
<link rel="icon" type="image/svg+xml" href="${assets}icon.svg">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="${assets}../docs"><img src="${assets}icon.svg" alt="" width="28" height="28"> Fieldgate</a>
<span class="version">${version}</span>
</header>
<div class="columns">
<nav aria-label="Contents">${nav}</nav>
<main id="main">${main}</main>
</div>
</body>
</html>
`.text;
}
