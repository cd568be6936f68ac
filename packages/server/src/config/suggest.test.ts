import { expect, it } from "vitest";
import { didYouMean } from "./suggest.ts";

it("suggests the closest word, and none that is far", () => {
  const words = ["amina", "otieno", "FIELDGATE_BASE_URL"];
  expect(didYouMean("anima", words)).toBe(" Did you mean amina?");
  expect(didYouMean("amian", words)).toBe(" Did you mean amina?");
  expect(didYouMean("FIELDGATE_BASEURL", words)).toBe(" Did you mean FIELDGATE_BASE_URL?");
  expect(didYouMean("wanjiru", words)).toBe("");
  expect(didYouMean("x", [])).toBe("");
});
