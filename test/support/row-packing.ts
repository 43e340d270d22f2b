/** Slow twin of src/domain/kernel/assembly/row-pack.ts, written from its format. */

export interface Row {
  readonly ref: number;
  readonly offset: number;
  readonly bits: bigint;
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return [...bytes, Number(rest)];
    bytes.push(Number(rest & 127n) | 128);
  }
}

const zigzag = (value: number) => (value < 0 ? BigInt(-value) * 2n - 1n : BigInt(value) * 2n);

/** The packed bytes of rows. */
export function packRowsSlowly(rows: readonly Row[]): Uint8Array {
  let last = { ref: -1, offset: 0, move: 0 };
  const bytes = rows.flatMap(({ ref, offset, bits }) => {
    const move = offset - last.offset;
    const step = zigzag(ref - ((last.ref + 1) >>> 0)) * 2n;
    const head = move === last.move ? varint(step + 1n) : [...varint(step), ...varint(zigzag(move))];
    last = { ref, offset, move };
    return [...head, ...new Uint8Array(BigUint64Array.of(bits).buffer)];
  });
  return Uint8Array.from(bytes);
}
