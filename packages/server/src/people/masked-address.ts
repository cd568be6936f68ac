/** Enough of an address for its owner to know it, too little for anyone else to use it. */
export function maskedAddress(address: string): string {
  const at = address.lastIndexOf("@");
  if (at < 0) return `${"•".repeat(6)}${address.slice(-3)}`;
  const [first = ""] = address;
  return `${first}•••@${address.slice(at + 1)}`;
}
