import { AuthError, ConfigurationError } from "../errors.ts";
import { once } from "../once.ts";
import type { AdapterConfig, AdapterContext, AuthAdapter } from "./adapter.ts";
import { findAdapter } from "./registry.ts";

/** The adapters: loaded once, initialized before use, tried again when that failed. */
export interface Adapters {
  /** Those that are loaded, by their keys. */
  readonly loaded: ReadonlyMap<string, AuthAdapter>;
  isKnown(type: string): boolean;
  /** The adapter, loaded and initialized. The password way is always there, and loaded when it is asked for. */
  ready(type: string): Promise<AuthAdapter>;
}

export function createAdapters(
  configs: readonly AdapterConfig[],
  contextOf: (provider: string) => AdapterContext,
): Adapters {
  const loaded = new Map<string, AuthAdapter>();
  const loaders = new Map<string, () => Promise<AuthAdapter>>();

  const add = (field: string, config: AdapterConfig): (() => AuthAdapter | Promise<AuthAdapter>) => {
    const { type } = config;
    const factory = findAdapter(field, type);
    if (loaders.has(type)) throw new ConfigurationError(field, `"${type}" is configured twice`);
    let begun: AuthAdapter | Promise<AuthAdapter> | undefined;
    const load = async () => {
      const first = begun;
      begun = undefined;
      const adapter = loaded.get(type) ?? (await (first ?? factory(config, contextOf(type))));
      loaded.set(type, adapter);
      await adapter.initialize();
      return adapter;
    };
    loaders.set(type, once(load));
    return () => {
      begun = factory(config, contextOf(type));
      return begun;
    };
  };

  for (const [index, config] of configs.entries()) {
    // Begun now, so that a wrong configuration fails here.
    const begun = add(`configs[${index}].type`, config)();
    if (begun instanceof Promise) begun.catch(() => 0);
    else loaded.set(config.type, begun);
  }
  if (!loaders.has("password")) add("", { type: "password", fields: {} });

  return {
    loaded,
    isKnown: (type) => loaders.has(type),
    async ready(type) {
      const load = loaders.get(type);
      if (!load) throw new AuthError("configuration", `"${type}" is not configured.`);
      return load();
    },
  };
}
