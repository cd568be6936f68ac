/** Columns that stand under each other. Control characters are shown, never sent to the terminal. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const printable = (cell: string) => cell.replace(/\p{Cc}/gu, "\uFFFD");
  const cells = rows.map((row) => row.map(printable));
  const widths = header.map((title, column) => Math.max(width(title), ...cells.map((row) => width(row[column] ?? ""))));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - width(cell))))
      .join("  ")
      .trimEnd();
  return [header, ...cells].map(line).join("\n");
}

/** How many columns a terminal needs for the text: marks take none, East Asian wide characters and emoji two. */
function width(text: string): number {
  let columns = 0;
  for (const char of text) {
    if (/\p{M}|\p{Cf}/u.test(char)) continue;
    columns +=
      /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\uFF01-\uFF60]/u.test(
        char,
      )
        ? 2
        : 1;
  }
  return columns;
}

/** An instant as people read it, in UTC. */
export function formatTime(milliseconds: number | null): string {
  return milliseconds === null ? "-" : `${new Date(milliseconds).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** An instant as machines read it. */
export function isoTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
