// Cuts JSON at the elements of an array: runs of whole elements that are checked here and parsed elsewhere, a run at a time. Who asks walks down to the
// array that has something to cut. What is passed is checked as in json-text.ts, and no call reads further than its limits and one text.
// Sketch: 0.35 ns a byte.
import { STATUS_LONG_ELEMENT, STATUS_ODD_BODY, STATUS_OK } from "../../../../core/layout/kernel-status";
import { afterSpace, ARRAY_CLOSE, COMMA, objectElements, OBJECT_OPEN, overran, setTextLimit, valueEnd } from "./json-text";

let end: usize = 0;
let count: u32 = 0;
let next: usize = 0;
let objects: u32 = 0;
let others: u32 = 0;

/**
 * Passes whole elements from the one at p on while they have at most `runBytes` together; the first may have `elementBytes` by itself. Brackets may open `depth` levels.
 * STATUS_OK, _LONG_ELEMENT for a first element that is longer, or _ODD_BODY where there is no JSON; then jsonRunEnd() is where.
 */
export function jsonRun(p: usize, runBytes: u32, elementBytes: u32, depth: i32): i32 {
  const from = p;
  count = others = objects = 0;
  end = p;
  while (true) {
    setTextLimit(count == 0 ? from + elementBytes : from + runBytes);
    const before = objectElements;
    const element = valueEnd(p, depth);
    if (element == 0 && !overran) {
      end = p;
      return STATUS_ODD_BODY;
    }
    if (element == 0 || (count == 0 ? element > from + elementBytes : element > from + runBytes)) {
      if (count == 0) return STATUS_LONG_ELEMENT;
      next = p;
      return STATUS_OK;
    }
    const isObject = <u32>load<u8>(p) == OBJECT_OPEN;
    objects += objectElements - before + <u32>isObject;
    others += <u32>!isObject;
    count++;
    end = element;
    p = afterSpace(element);
    const byte: u32 = load<u8>(p);
    if (byte != COMMA) {
      next = p;
      if (byte == ARRAY_CLOSE) return STATUS_OK;
      end = p;
      return STATUS_ODD_BODY;
    }
    p = afterSpace(p + 1);
  }
}

/** Behind the last element of the run. */
export function jsonRunEnd(): usize {
  return end;
}

export function jsonRunElements(): u32 {
  return count;
}

/** Those of them that are no objects. */
export function jsonRunOthers(): u32 {
  return others;
}

/** Where the next element begins, or the bracket that closes the array. */
export function jsonRunNext(): usize {
  return next;
}

/** Objects that are elements of an array, at any depth of the run. */
export function jsonRunObjects(): u32 {
  return objects;
}

/** Behind the value at p; 0 when there is none, or none that ends within `bytes`. */
export function jsonValueEnd(p: usize, bytes: u32, depth: i32): usize {
  setTextLimit(p + bytes);
  const last = valueEnd(p, depth);
  return last > p + bytes ? 0 : last;
}

/** The first byte at or behind p that is no white space. */
export function jsonSpaceEnd(p: usize): usize {
  return afterSpace(p);
}
