import { css } from "lit";

export const pageStyles = css`
  .page {
    display: grid;
    gap: 1rem;
    max-width: 68rem;
    margin: 0 auto;
    padding: 0 1rem 3rem;
  }
  header {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem 0.75rem;
    align-items: center;
    padding-block: 0.875rem;
    border-bottom: 1px solid var(--line);
  }
  header h1 {
    flex: 1;
    min-width: 5rem;
    font-size: clamp(0.95rem, 4.5vw, 1.125rem);
    overflow-wrap: anywhere;
  }
  header select {
    width: auto;
    max-width: 100%;
  }
  .skip {
    position: absolute;
    inset-inline-start: 1rem;
    top: -6rem;
    z-index: 1;
    width: auto;
    padding: 0.75rem 1rem;
    border-radius: var(--radius);
    background: var(--accent);
    color: var(--on-accent);
  }
  .skip:focus {
    top: 0.5rem;
  }
  .network p {
    padding: 0.75rem 1rem;
    border-radius: var(--radius);
    background: var(--ink);
    color: var(--paper);
  }
  .columns {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 1.25rem;
    align-items: start;
  }
  main {
    display: grid;
    grid-template-columns: minmax(0, 30rem);
    gap: 1.25rem;
    justify-content: center;
    outline: none;
  }
  .card {
    padding: clamp(1rem, 5vw, 2rem);
    border: 1px solid color-mix(in srgb, var(--line) 45%, transparent);
    border-radius: calc(var(--radius) * 1.5);
    background: var(--paper);
    box-shadow: 0 1px 3px rgb(0 0 0 / 6%);
  }
  .devices {
    display: grid;
    gap: 0.75rem;
    list-style: none;
  }
  .devices:empty {
    display: none;
  }
  .devices li {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem 1rem;
    align-items: center;
    justify-content: space-between;
    padding-top: 0.75rem;
    border-top: 1px solid color-mix(in srgb, var(--line) 45%, transparent);
  }
  .devices li > div > * {
    display: block;
  }
  .devices button {
    width: auto;
    min-width: 6rem;
  }
  dl {
    margin: 0;
    overflow-wrap: anywhere;
  }
  dt {
    font-weight: 600;
  }
  dd {
    margin: 0 0 0.5rem;
  }
  a {
    color: var(--accent);
    text-underline-offset: 0.2em;
  }
  .demo {
    display: grid;
    gap: 0.75rem;
    border-style: dashed;
    border-color: var(--line);
    background: var(--tint);
  }
  .demo h2 {
    font-size: 1.125rem;
  }
  .demo code {
    display: inline-block;
    padding: 0.1rem 0.4rem;
    border-radius: 0.3rem;
    background: var(--paper);
    font-size: 0.95rem;
    overflow-wrap: anywhere;
    user-select: all;
  }
  .demo ul {
    display: grid;
    list-style: none;
  }
  .demo li a {
    display: inline-block;
    padding-block: 0.5rem;
  }
  @media (min-width: 60rem) {
    .columns:has(.demo) {
      grid-template-columns: minmax(0, 1fr) 21rem;
    }
  }
  @media (forced-colors: active) {
    .card,
    .trouble,
    .good {
      border: 1px solid;
    }
  }
`;
