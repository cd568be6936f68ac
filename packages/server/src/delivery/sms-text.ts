/** How a text travels as SMS: in the small alphabet of GSM 03.38 where it fits, else in UCS-2, in parts where it is long. */
export interface SmsText {
  readonly alphabet: "gsm" | "ucs2";
  /** What `short_message` holds: each with its header where there are several, to be put together by the phone. */
  readonly parts: readonly Buffer[];
}

const basic =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿" +
  "abcdefghijklmnopqrstuvwxyzäöñüà";
const escapeOctet = 0x1b;
const extended: Readonly<Record<string, number>> = {
  "\f": 0x0a,
  "^": 0x14,
  "{": 0x28,
  "}": 0x29,
  "\\": 0x2f,
  "[": 0x3c,
  "~": 0x3d,
  "]": 0x3e,
  "|": 0x40,
  "€": 0x65,
};

/** Octets of each character: it must never be cut in two. */
const gsmOctets = new Map<string, readonly number[]>([
  ...[...basic].map((character, code) => [character, [code]] as const).filter(([character]) => character !== "\u001b"),
  ...Object.entries(extended).map(([character, code]) => [character, [escapeOctet, code]] as const),
]);

const room = { gsm: { alone: 160, part: 153 }, ucs2: { alone: 140, part: 134 } } as const;

/** `reference` tells the parts of one message from those of another: the same for every try of one message. */
export function smsText(text: string, reference: number): SmsText {
  const characters = [...text.replaceAll("\r\n", "\n")];
  const gsm = characters.map((character) => gsmOctets.get(character));
  const fits = gsm.every((octets) => octets !== undefined);
  const alphabet = fits ? "gsm" : "ucs2";
  const encoded = fits ? gsm : characters.map(ucs2Octets);
  const chunks = cut(encoded as readonly (readonly number[])[], room[alphabet]);
  if (chunks.length === 1) return { alphabet, parts: chunks.map((octets) => Buffer.from(octets)) };
  const parts = chunks.map((octets, index) =>
    Buffer.from([0x05, 0x00, 0x03, reference & 0xff, chunks.length, index + 1, ...octets]),
  );
  return { alphabet, parts };
}

/** UTF-16: a character beyond the first plane is a pair, which stays together. */
function ucs2Octets(character: string): readonly number[] {
  return [...Buffer.from(character, "utf16le").swap16()];
}

function cut(encoded: readonly (readonly number[])[], { alone, part }: { alone: number; part: number }): number[][] {
  const whole = encoded.flat();
  if (whole.length <= alone) return [whole];
  const chunks: number[][] = [];
  let current: number[] = [];
  for (const octets of encoded) {
    if (current.length + octets.length > part) {
      chunks.push(current);
      current = [];
    }
    current.push(...octets);
  }
  return [...chunks, current];
}
