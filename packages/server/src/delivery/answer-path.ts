import type { AnswerRule } from "../config/delivery-config.ts";

/** The steps of a path such as `messages[0].message-id`; null where it is none. */
export function pathSteps(path: string): (string | number)[] | null {
  if (!/^(?:[^.[\]]+|\[\d{1,4}\])(?:\.[^.[\]]+|\[\d{1,4}\])*$/.test(path)) return null;
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) =>
    index === undefined ? (key ?? "") : Number(index),
  );
}

/** What lies at a path of a JSON value; undefined where there is nothing. */
export function valueAt(value: unknown, path: string): unknown {
  return (pathSteps(path) ?? []).reduce<unknown>((at, step) => {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    return (at as Record<string | number, unknown>)[step];
  }, value);
}

/** Whether an answer is what the rule says. Numbers and texts that read the same are the same. */
export function answerFits(answer: unknown, rule: AnswerRule): boolean {
  const found = valueAt(answer, rule.path);
  if (rule.in === undefined) return found !== undefined && found !== null;
  return (
    ["string", "number", "boolean"].includes(typeof found) && rule.in.some((each) => String(each) === String(found))
  );
}
