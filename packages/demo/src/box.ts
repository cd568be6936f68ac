/** Frames lines for a terminal; an empty line stays one. */
export function box(title: string, lines: readonly string[]): string {
  const width = Math.max(title.length + 2, ...lines.map((line) => [...line].length));
  const row = (line: string) => `│ ${line}${" ".repeat(width - [...line].length)} │`;
  const head = `┌─ ${title} ${"─".repeat(width - title.length - 1)}┐`;
  return [head, row(""), ...lines.map(row), row(""), `└${"─".repeat(width + 2)}┘`].join("\n");
}
