/**
 * A bounded memory in two generations: what is used moves to the young one; when that is full it becomes the old one,
 * and what nobody asked for since is gone. As good as LRU here, without its bookkeeping at every hit.
 */
export class VerifiedCache<Value> {
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  readonly #generation: number;

  constructor(capacity: number) {
    this.#generation = Math.max(1, Math.floor(capacity / 2));
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#generation) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
