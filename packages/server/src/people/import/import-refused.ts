/** The file as a whole cannot be imported; the sentence says why and what to do. It holds nothing personal. */
export class ImportRefused extends Error {
  override readonly name = "ImportRefused";
}
