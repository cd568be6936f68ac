/**
 * Names for prepared statements, by their text: the server parses and plans each text once a connection. Beyond the
 * limit statements stay without a name, so that texts of endless variety cannot fill the server's memory.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #limit: number;

  constructor(limit = 256) {
    this.#limit = limit;
  }

  nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined) return known;
    if (this.#names.size >= this.#limit) return undefined;
    const name = `fieldgate_${this.#names.size + 1}`;
    this.#names.set(sql, name);
    return name;
  }
}
