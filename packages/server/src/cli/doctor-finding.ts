/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "bad";
  readonly sentence: string;
  /** What to do about it. */
  readonly remedy?: string;
}

export const ok = (check: string, sentence: string): Finding => ({ check, state: "ok", sentence });

export const warn = (check: string, sentence: string, remedy: string): Finding => ({
  check,
  state: "warn",
  sentence,
  remedy,
});

export const bad = (check: string, sentence: string, remedy?: string): Finding => ({
  check,
  state: "bad",
  sentence,
  ...(remedy !== undefined && { remedy }),
});
