import { css } from "lit";

/**
 * What a page may change: `--fieldgate-accent`, `-on-accent`, `-ink`, `-quiet`, `-paper`, `-line`, `-problem`, `-radius`, `-font`;
 * and every part by its name.
 */
export const colours = css`
  :host {
    --accent: var(--fieldgate-accent, #17603c);
    --on-accent: var(--fieldgate-on-accent, #ffffff);
    --ink: var(--fieldgate-ink, #18211d);
    --quiet: var(--fieldgate-quiet, #4d5a54);
    --paper: var(--fieldgate-paper, #ffffff);
    --line: var(--fieldgate-line, #84918a);
    --tint: var(--fieldgate-tint, #edf4f0);
    --problem: var(--fieldgate-problem, #99201c);
    --problem-tint: var(--fieldgate-problem-tint, #fdf0ef);
    --radius: var(--fieldgate-radius, 0.75rem);
    display: block;
    color: var(--ink);
    font: var(--fieldgate-font, 1.0625rem / 1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif);
    text-align: start;
  }
  @media (prefers-color-scheme: dark) {
    :host {
      --accent: var(--fieldgate-accent, #7fd6a9);
      --on-accent: var(--fieldgate-on-accent, #0c1a13);
      --ink: var(--fieldgate-ink, #e8efeb);
      --quiet: var(--fieldgate-quiet, #adbbb4);
      --paper: var(--fieldgate-paper, #161d1a);
      --line: var(--fieldgate-line, #71807a);
      --tint: var(--fieldgate-tint, #1f2b26);
      --problem: var(--fieldgate-problem, #ffb4ab);
      --problem-tint: var(--fieldgate-problem-tint, #3a1f1d);
    }
  }
  *,
  ::before,
  ::after {
    box-sizing: border-box;
  }
  p,
  ul,
  fieldset {
    margin: 0;
    padding: 0;
    border: 0;
  }
  h1,
  h2 {
    margin: 0;
    font-size: 1.5rem;
    line-height: 1.25;
    text-wrap: balance;
  }
  :focus-visible {
    outline: 3px solid var(--accent);
    outline-offset: 3px;
  }
  h1:focus,
  h2:focus {
    outline: none;
  }
  .hint {
    color: var(--quiet);
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .icon {
    flex: none;
    width: 1.75rem;
    height: 1.75rem;
    color: var(--accent);
  }
  :dir(rtl) .flip,
  [dir="rtl"] .flip {
    transform: scaleX(-1);
    transform-origin: center;
  }
  .trouble,
  .good {
    padding: 0.75rem 1rem;
    border-inline-start: 0.3rem solid var(--problem);
    border-radius: calc(var(--radius) / 2);
    background: var(--problem-tint);
    color: var(--problem);
    overflow-wrap: anywhere;
  }
  .good {
    border-color: var(--accent);
    background: var(--tint);
    color: var(--ink);
  }
`;

export const controls = css`
  button,
  .file {
    display: flex;
    gap: 0.75rem;
    align-items: center;
    justify-content: center;
    width: 100%;
    min-height: 3rem;
    padding: 0.625rem 1rem;
    border: 2px solid var(--accent);
    border-radius: var(--radius);
    background: transparent;
    color: var(--accent);
    font: inherit;
    font-weight: 600;
    text-align: center;
    cursor: pointer;
  }
  .main {
    background: var(--accent);
    color: var(--on-accent);
  }
  [aria-disabled="true"] {
    opacity: 0.85;
    cursor: progress;
  }
  .plain {
    width: auto;
    padding-inline: 0.5rem;
    border-color: transparent;
    text-decoration: underline;
    text-underline-offset: 0.2em;
  }
  .plain:not(.resend) {
    text-align: start;
  }
  .back {
    justify-self: start;
    margin-block: -0.5rem;
    margin-inline-start: -0.5rem;
    gap: 0.25rem;
  }
  .way {
    justify-content: start;
    min-height: 4.5rem;
    border-color: var(--line);
    border-width: 1px;
    background: var(--paper);
    color: var(--ink);
    font-weight: 400;
    text-align: start;
  }
  .way:hover,
  .file:hover {
    border-color: var(--accent);
    background: var(--tint);
  }
  .way span > * {
    display: block;
  }
  label,
  legend {
    font-weight: 600;
  }
  legend {
    padding: 0;
  }
  input,
  select,
  textarea {
    width: 100%;
    min-height: 3rem;
    padding: 0.5rem 0.75rem;
    border: 1px solid var(--line);
    border-radius: calc(var(--radius) / 1.5);
    background: var(--paper);
    color: var(--ink);
    font: inherit;
  }
  textarea {
    font-family: ui-monospace, monospace;
    font-size: 0.9rem;
  }
  .code {
    font-size: 1.5rem;
    letter-spacing: 0.3em;
    font-variant-numeric: tabular-nums;
  }
  .short {
    max-width: 8rem;
  }
  .check {
    display: flex;
    gap: 0.75rem;
    align-items: center;
    min-height: 2.75rem;
    font-weight: 400;
  }
  .choice {
    min-height: 3.25rem;
  }
  .check input {
    flex: none;
    width: 1.5rem;
    min-height: 1.5rem;
    height: 1.5rem;
    padding: 0;
    accent-color: var(--accent);
  }
  .file {
    position: relative;
  }
  .file:focus-within {
    outline: 3px solid var(--accent);
    outline-offset: 3px;
  }
  .file input {
    position: absolute;
    inset: 0;
    opacity: 0;
    cursor: pointer;
  }
  summary {
    min-height: 2.75rem;
    padding-block: 0.5rem;
    color: var(--accent);
    font-weight: 600;
    cursor: pointer;
  }
`;

export const layout = css`
  .frame,
  form {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 1.125rem;
  }
  .field {
    display: grid;
    gap: 0.25rem;
    min-width: 0;
  }
  .ways {
    display: grid;
    gap: 0.75rem;
    list-style: none;
  }
  [role="alert"]:not(:has(*)),
  [role="status"]:not(:has(*), p) {
    display: none;
  }
  .date {
    display: grid;
    grid-template-columns: 4rem minmax(0, 1fr) 5.5rem;
    gap: 0.75rem;
    margin-top: 0.5rem;
  }
  @media (max-width: 22rem) {
    .date {
      grid-template-columns: 1fr 1.5fr;
    }
    .date > :nth-child(2) {
      order: -1;
      grid-column: 1 / -1;
    }
  }
  .or {
    color: var(--quiet);
    text-align: center;
  }
  video {
    width: 100%;
    aspect-ratio: 4 / 3;
    border-radius: var(--radius);
    background: #000;
    object-fit: cover;
  }
`;
