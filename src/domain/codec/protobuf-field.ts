// Fields of protobuf messages that no generated writer writes: small ones, a byte an array's element.

/** A field of bytes: its tag, their number, and the bytes. */
export function bytesField(number: number, content: ArrayLike<number>): number[] {
  return [number * 8 + 2, ...varintBytes(content.length), ...Array.from(content)];
}

/** The bytes of a whole number. */
export function varintBytes(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varintBytes(Math.floor(value / 128))];
}
