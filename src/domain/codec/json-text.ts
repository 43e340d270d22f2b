// The JSON text of an answer made entry by entry, so that nobody who shares the thread waits for the whole of a long one: 8 MB take JSON.stringify 30 ms.

/** Levels that are taken apart: an answer is an object whose members are lists. */
const LEVELS = 2;

/** The text that JSON.stringify makes of an object of plain values; yields between the entries of its lists. */
export function* jsonTextSteps(value: unknown): Generator<void, string> {
  const parts: string[] = [];
  yield* write(value, LEVELS, parts);
  return parts.join("");
}

function* write(value: unknown, levels: number, parts: string[]): Generator<void> {
  if (levels === 0 || typeof value !== "object" || value === null || "toJSON" in value) parts.push(JSON.stringify(value) ?? "null");
  else if (Array.isArray(value)) yield* writeList(value, levels, parts);
  else yield* writeMembers(value, levels, parts);
}

function* writeList(list: readonly unknown[], levels: number, parts: string[]): Generator<void> {
  parts.push("[");
  for (let index = 0; index < list.length; index++) {
    if (index > 0) parts.push(",");
    yield* write(list[index], levels - 1, parts);
    yield;
  }
  parts.push("]");
}

/** What JSON has no value for is left out. */
function* writeMembers(value: object, levels: number, parts: string[]): Generator<void> {
  parts.push("{");
  let isFirst = true;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined || typeof member === "function" || typeof member === "symbol") continue;
    parts.push(`${isFirst ? "" : ","}${JSON.stringify(name)}:`);
    isFirst = false;
    yield* write(member, levels - 1, parts);
  }
  parts.push("}");
}
