import type { ErrorCode } from "./errors.ts";
import type { Component } from "./schema.ts";

export type Method = "GET" | "POST" | "DELETE";

/** A request header that means something to a route. */
export interface HeaderEntry {
  readonly description: string;
}

export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: "users" | "citizens" | "sync" | "tenants" | "service";
  /** `optional`: the token may come another way. */
  readonly bearer?: "required" | "optional";
  readonly headers?: Readonly<Record<string, HeaderEntry>>;
  readonly params?: Readonly<Record<string, string>>;
  /** What may follow the `?`, each at most once, and what it says. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Component;
  /** How the body is written; JSON where it is left out. */
  readonly bodyType?: "form";
  /** A body may be left out altogether. */
  readonly bodyOptional?: boolean;
  /** The body is written by a program that does not know us: any field may be in it, and it may be a form. */
  readonly foreignBody?: boolean;
  /** Most bytes of a body, where they are not the 16 KiB of all others. */
  readonly bodyLimit?: number;
  /** A list in the body whose items are judged one by one: what is wrong inside of one does not refuse the others. */
  readonly lenientList?: string;
  /** Accepted input names and the canonical field each stands for. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly response: Readonly<Record<number, Component | null>>;
  /** The codes this route may answer besides the common ones. */
  readonly errors: readonly ErrorCode[];
}

export function defineRoute<const R extends Route>(route: R): R {
  return route;
}
