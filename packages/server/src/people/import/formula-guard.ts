/**
 * Spreadsheets take a cell that begins so for a formula. Exports put an apostrophe before it, which spreadsheets do not
 * show; imports take that one apostrophe away again, so that nothing is lost on the way.
 */
const dangerous = /^'*[=+\-@\t\r]/;
const guarded = /^'+[=+\-@\t\r]/;

export function guardCell(cell: string): string {
  return dangerous.test(cell) ? `'${cell}` : cell;
}

export function unguardCell(cell: string): string {
  return guarded.test(cell) ? cell.slice(1) : cell;
}

/** A cell as RFC 4180 writes it. */
export function csvCell(cell: string): string {
  return /[",;\r\n\t]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\n`;
}
