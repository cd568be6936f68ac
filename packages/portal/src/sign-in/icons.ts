import { type SVGTemplateResult, svg } from "lit";

/** Drawn with the colour of the text around them; they say nothing that words do not say too. */
const icon = (shape: SVGTemplateResult) =>
  svg`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">${shape}</svg>`;

export const icons = {
  recipient: icon(svg`<rect x="6" y="2.5" width="12" height="19" rx="2.5"/><path d="M9.5 9h5M9.5 12.5h3M11 18.5h2"/>`),
  id: icon(
    svg`<rect x="2.5" y="5" width="19" height="14" rx="2.5"/><circle cx="8" cy="11" r="2"/><path d="M5 16c.6-1.6 5.400-1.600 6 0M14.500 10h4M14.500 14h4"/>`,
  ),
  card: icon(
    svg`<path d="M3 8V4.500A1.500 1.500 0 0 1 4.500 3H8M16 3h3.500A1.500 1.500 0 0 1 21 4.500V8M21 16v3.500a1.500 1.500 0 0 1-1.500 1.500H16M8 21H4.500A1.500 1.500 0 0 1 3 19.500V16"/><rect x="7" y="7" width="4" height="4"/><path d="M14 7h3v3M7 14h3v3M14 14h.01M17 17h.01M14 17h.01M17 14h.01"/>`,
  ),
  worker: icon(svg`<circle cx="12" cy="8" r="3.500"/><path d="M5 20c.8-3.600 3.600-5 7-5s6.200 1.400 7 5"/>`),
  back: icon(svg`<path class="flip" d="m14 6-6 6 6 6"/>`),
};
