// The marker that ends a series: a NaN with bits of its own, 0x7ff0000000000002 (model/value/value.go of Prometheus). As a number it is any NaN, so it is told by its bits.

const HIGH_WORD = 0x7ff00000;
const LOW_WORD = 2;

/** Whether a value is a stale marker. */
export function isStale(values: Float64Array, index: number): boolean {
  if (!Number.isNaN(values[index] as number)) return false;
  const slots = new Uint32Array(values.buffer, values.byteOffset + index * 8, 2);
  return slots[0] === LOW_WORD && slots[1] === HIGH_WORD;
}

/** Writes a stale marker. */
export function markStale(values: Float64Array, index: number): void {
  const slots = new Uint32Array(values.buffer, values.byteOffset + index * 8, 2);
  slots[0] = LOW_WORD;
  slots[1] = HIGH_WORD;
}
