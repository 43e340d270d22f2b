// Typed arrays by number that grow with the highest one.

/** Length of such an array at first. */
export const FIRST_LENGTH = 1024;

interface TypedArray<Own> {
  readonly length: number;
  set(from: Own): void;
}

/** The array, or one of twice the length or more that begins as it does, so that it has one of this number. */
export function longEnough<Own extends TypedArray<Own> & { readonly constructor: unknown }>(array: Own, number: number): Own {
  if (number < array.length) return array;
  const larger = new (array.constructor as new (length: number) => Own)(Math.max(number + 1, 2 * array.length));
  larger.set(array);
  return larger;
}
