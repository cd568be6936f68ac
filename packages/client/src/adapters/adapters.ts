import { AuthError, ConfigurationError } from "../errors.ts";
import type { AdapterConfig, AdapterContext, AuthAdapter } from "./adapter.ts";
import { findAdapter } from "./registry.ts";

interface Entry {
  readonly create: () => AuthAdapter | Promise<AuthAdapter>;
  adapter?: AuthAdapter | Promise<AuthAdapter> | undefined;
  ready?: Promise<AuthAdapter> | undefined;
}

/** The configured adapters: loaded once, initialized before use, tried again when that failed. */
export interface Adapters {
  /** The configured ones. */
  readonly types: readonly string[];
  /** The adapter, which must have been loaded. */
  get(type: string): AuthAdapter;
  /** The adapter, loaded and initialized. The password way is always there, and loaded when it is asked for. */
  ready(type: string): Promise<AuthAdapter>;
}

export function createAdapters(
  configs: readonly AdapterConfig[],
  contextOf: (provider: string) => AdapterContext,
): Adapters {
  const entries = new Map<string, Entry>();
  const add = (field: string, config: AdapterConfig): Entry => {
    const { type } = config;
    const factory = findAdapter(field, type);
    if (entries.has(type)) throw new ConfigurationError(field, `"${type}" is configured twice`);
    const entry: Entry = { create: () => factory(config, contextOf(type)) };
    entries.set(type, entry);
    return entry;
  };
  for (const [index, config] of configs.entries()) {
    const entry = add(`configs[${index}].type`, config);
    // Now, so that a wrong configuration fails here.
    load(entry);
  }
  const types = [...entries.keys()];
  if (!entries.has("password")) add("", { type: "password", fields: {} });

  /** What cannot be loaded now is loaded again when it is needed. */
  function load(entry: Entry): AuthAdapter | Promise<AuthAdapter> {
    entry.adapter ??= entry.create();
    if (entry.adapter instanceof Promise) {
      entry.adapter.then(
        (adapter) => {
          entry.adapter = adapter;
        },
        () => {
          entry.adapter = undefined;
        },
      );
    }
    return entry.adapter;
  }

  async function begin(entry: Entry): Promise<AuthAdapter> {
    try {
      const adapter = await load(entry);
      await adapter.initialize();
      return adapter;
    } catch (error) {
      entry.ready = undefined;
      throw error;
    }
  }

  function find(type: string): Entry {
    const entry = entries.get(type);
    if (!entry) throw new AuthError("configuration", `"${type}" is not configured; ${types} are.`);
    return entry;
  }

  return {
    types,
    get(type) {
      const { adapter } = find(type);
      if (!adapter || adapter instanceof Promise) {
        throw new AuthError("unsupported", `"${type}" is not loaded yet: await initialize() first.`);
      }
      return adapter;
    },
    async ready(type) {
      const entry = find(type);
      entry.ready ??= begin(entry);
      return entry.ready;
    },
  };
}
