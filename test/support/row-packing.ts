/** Slow twin of src/domain/kernel/assembly/ingest/row-pack.ts, written from its format. */

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

/** The rows of packed bytes; undefined when there are more than `most` or the bytes end inside one. A varint has ten bytes at most, as many as 64 bits need. */
export function unpackRowsSlowly(bytes: Uint8Array, most: number): Row[] | undefined {
  const rows: Row[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const read = (): bigint => {
    let value = 0n;
    for (let place = 0n; place < 70n; place += 7n) {
      const byte = bytes[at++] ?? 0;
      value |= BigInt(byte & 127) << place;
      if (byte < 128) break;
    }
    return BigInt.asUintN(64, value);
  };
  const unzigzag = (code: bigint) => (code & 1n ? -((code + 1n) >> 1n) : code >> 1n);
  let [ref, offset, move] = [0xffff_ffffn, 0n, 0n];
  while (at < bytes.length) {
    if (rows.length === most) return undefined;
    const code = read();
    if ((code & 1n) === 0n) move = unzigzag(read());
    if (at + 8 > bytes.length) return undefined;
    ref = BigInt.asUintN(32, BigInt.asUintN(32, ref + 1n) + unzigzag(code >> 1n));
    offset = BigInt.asUintN(32, offset + move);
    rows.push({ ref: Number(ref), offset: Number(offset), bits: view.getBigUint64(at, true) });
    at += 8;
  }
  return rows;
}
