// eq, ne, lt, le, gt and ge of templates (text/template/funcs.go): kinds must be the same, an int and a float64 are two.
import { GoDuration, GoTime, type GoValue, isGoList, isGoMap } from "./go-value.ts";

/** A function that was called with what it does not take; the message is Go's. */
export class FunctionError extends Error {
  override readonly name = "FunctionError";
}

type Basic = string | number | bigint | boolean;

function basic(value: GoValue): Basic {
  if (value === null || value === undefined) throw new FunctionError("invalid type for comparison");
  if (isGoList(value) || isGoMap(value) || typeof value === "object") {
    if (value instanceof GoDuration) return value.seconds;
    if (value instanceof GoTime) return value.ms;
    throw new FunctionError("invalid type for comparison");
  }
  return value;
}

/** Whether the first value is any of the others. */
export function equalsAny(first: GoValue, others: readonly GoValue[]): boolean {
  if (others.length === 0) throw new FunctionError("missing argument for comparison");
  return others.some((other) => {
    if (first === null || other === null) return first === other;
    const [a, b] = [basic(first), basic(other)];
    if (typeof a !== typeof b) throw new FunctionError("incompatible types for comparison");
    return a === b;
  });
}

/** Whether one value is less than another. */
export function isLess(first: GoValue, second: GoValue): boolean {
  const [a, b] = [basic(first), basic(second)];
  if (typeof a !== typeof b) throw new FunctionError("incompatible types for comparison");
  if (typeof a === "boolean") throw new FunctionError("invalid type for comparison");
  return a < b;
}
