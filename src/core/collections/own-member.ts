// Plain objects, as decoded JSON has them, and their members by names that somebody else has chosen: a header, a label, a secret. `constructor`, `toString` and `__proto__` are names as others are;
// what stands in Object.prototype is never an answer. `make check` refuses other reads and writes by any name (scripts/record-reads.mjs).

/** Returns true for an object of decoded JSON, and not for an array or null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Member of an object by any name; undefined where it has none of its own. */
export function ownMember<T extends object>(record: T | null | undefined, name: string): T[keyof T] | undefined {
  return record != null && Object.hasOwn(record, name) ? record[name as keyof T] : undefined;
}

/** Gives an object a member by any name. `__proto__` becomes a member too, and not its prototype. */
export function setMember<V>(record: Record<string, V>, name: string, value: V): void {
  if (name !== "__proto__") record[name] = value;
  else Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true });
}
