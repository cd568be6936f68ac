import { escapeXml, qrSvg } from "./draw-qr.ts";

export interface SheetCard {
  readonly number: string;
  readonly text: string;
  readonly expiresAt: number;
}

const style = `
@page { size: A4; margin: 12mm 10mm; }
* { box-sizing: border-box; }
body { margin: 0; font: 9pt/1.35 system-ui, sans-serif; color: #000; background: #fff; }
main { display: grid; grid-template-columns: repeat(2, 85.6mm); gap: 6mm 8mm; justify-content: center; }
article { height: 54mm; border: 0.2mm dashed #888; border-radius: 3mm; padding: 3mm; display: flex; gap: 3mm;
  align-items: center; break-inside: avoid; }
svg { width: 44mm; height: 44mm; flex: none; }
h2 { font-size: 10pt; margin: 0 0 2mm; }
p { margin: 0 0 1.5mm; }
.number { font-family: ui-monospace, monospace; font-size: 8pt; overflow-wrap: anywhere; }
@media screen { body { padding: 10mm; background: #eee; } article { background: #fff; } }
`;

/** A page to print on A4 and cut: eight cards a sheet, in the size of a bank card. It names nobody. */
export function cardSheet(tenantName: string, cards: readonly SheetCard[]): string {
  const name = escapeXml(tenantName);
  const articles = cards.map(
    (card) => `<article>${qrSvg(card.text, `Card ${card.number}`)}<div><h2>${name}</h2>
<p class="number">${escapeXml(card.number)}</p>
<p>Valid until ${new Date(card.expiresAt).toISOString().slice(0, 10)}</p></div></article>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Cards of ${name}</title><style>${style}</style></head>
<body><main>
${articles.join("\n")}
</main></body></html>
`;
}
