// The table with which the kernel reads numbers: powers of five to 128 bits, as D. Lemire, Number Parsing at a Gigabyte per Second (2021), section 5
// wants them: cut off, but rounded up for the reciprocals that a product can meet exactly.
import { POWER_OF_FIVE_BYTES, POWER_OF_FIVE_FIRST, POWER_OF_FIVE_LAST, POWERS_OF_FIVE } from "../../core/layout/memory-map.ts";

const BITS = 128n;
/** 5^27 is the highest power below 2^64. */
const ROUNDED_UP_FIRST = -27;

function bitLength(value: bigint): bigint {
  return BigInt(value.toString(2).length);
}

/** The highest 128 bits of 5^q, without the binary point. */
function highestBits(q: number): bigint {
  if (q >= 0) {
    const power = 5n ** BigInt(q);
    const length = bitLength(power);
    return length <= BITS ? power << (BITS - length) : power >> (length - BITS);
  }
  const divisor = 5n ** BigInt(-q);
  return (1n << (bitLength(divisor) + BITS - 1n)) / divisor + (q >= ROUNDED_UP_FIRST ? 1n : 0n);
}

/** Writes the table into an engine's memory; the kernel leaves numbers that need it to JSON.parse until then. */
export function fillPowersOfFive(view: DataView): void {
  for (let q = POWER_OF_FIVE_FIRST; q <= POWER_OF_FIVE_LAST; q++) {
    const at = POWERS_OF_FIVE + (q - POWER_OF_FIVE_FIRST) * POWER_OF_FIVE_BYTES;
    const bits = highestBits(q);
    view.setBigUint64(at, BigInt.asUintN(64, bits), true);
    view.setBigUint64(at + 8, bits >> 64n, true);
  }
}
