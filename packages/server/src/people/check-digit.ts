/** Verhoeff's scheme: finds every single wrong digit and every swap of neighbours. */
export function passesVerhoeff(digits: string): boolean {
  if (!/^\d{2,}$/.test(digits)) return false;
  const check = [...digits].reverse().reduce((sum, digit, place) => multiply(sum, permute(Number(digit), place)), 0);
  return check === 0;
}

/** The dihedral group of the pentagon: rotations 0 to 4, reflections 5 to 9. */
function multiply(a: number, b: number): number {
  if (a < 5) return b < 5 ? (a + b) % 5 : ((a + b) % 5) + 5;
  return b < 5 ? ((a - b) % 5) + 5 : (a - b + 5) % 5;
}

const permutation = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4] as const;

function permute(digit: number, place: number): number {
  let permuted = digit;
  for (let round = place % 8; round > 0; round -= 1) permuted = permutation[permuted] ?? 0;
  return permuted;
}

/** Luhn's scheme, as on bank cards. */
export function passesLuhn(digits: string): boolean {
  if (!/^\d{2,}$/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const weighed = Number(digit) * (place % 2 === 0 ? 1 : 2);
    return total + (weighed > 9 ? weighed - 9 : weighed);
  }, 0);
  return sum % 10 === 0;
}
