// How many elements the arrays of an OTLP request may have: resources, scopes, items and points. A check that finds more gives up at once.

let most: u32 = U32.MAX_VALUE;
let left: u32 = 0;

/** Sets how many the requests to come may have. */
export function otlpElementsMax(elements: u32): void {
  most = elements;
}

/** How many more the request that was checked last might have had; 0 where that is why it was given up. */
export function otlpElementsLeft(): u32 {
  return left;
}

/** A request is begun. */
export function beginElements(): void {
  left = most;
}

/** Counts an element; false when there are too many. */
// @ts-ignore
@inline
export function takeElement(): bool {
  if (left == 0) return false;
  left--;
  return left != 0;
}
