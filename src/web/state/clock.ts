// The one reader of the clock in the interface.

/** Wall time in ms. */
export function wallMs(): number {
  return Date.now();
}
