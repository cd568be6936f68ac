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

const passwordWay: AdapterConfig = { type: "password", fields: {} };

export function createAdapters(
  configs: readonly AdapterConfig[],
  contextOf: (provider: string) => AdapterContext,
): Adapters {
  const loaded = new Map<string, AuthAdapter>();
  const loaders = new Map<string, () => Promise<AuthAdapter>>();

  for (const [index, config] of [...configs, passwordWay].entries()) {
    const { type } = config;
    const field = `configs[${index}].type`;
    const factory = findAdapter(field, type);
    const make = () => factory(config, contextOf(type));
    let first: ReturnType<typeof make> | undefined;
    if (config !== passwordWay) {
      if (loaders.has(type)) throw new ConfigurationError(field, `"${type}" is configured twice`);
      // At once, so that a wrong configuration fails here. What cannot be loaded now is loaded again when it is needed.
      first = make();
      if (first instanceof Promise) first.catch(() => 0);
      else loaded.set(type, first);
    }
    const load = async () => {
      const begun = first;
      first = undefined;
      const adapter = loaded.get(type) ?? (await (begun ?? make()));
      loaded.set(type, adapter);
      await adapter.initialize();
      return adapter;
    };
    loaders.set(type, once(load));
  }

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
