/**
 * Small objects as stored values: version u8 = 1, then JSON. The adapter puts a checksum of table, key and value behind it (adapters/storage/value-seal.ts), and so
 * also says where a value ends. What is read is looked at member by member before anything trusts it: a value of another version or another form names its table
 * and member, and the read that met it ends; a start leaves the row out (loop/start-without-rows.ts), or ends where its version is another.
 */
import { isObject, ownMember } from "../../core/collections/own-member.ts";

const VERSION = 1;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** A stored value that is whole by its checksum, and yet none of its table: another program, or another version of this one, wrote it. */
export class UnknownRowError extends Error {
  /** Whether a program of another version has written it: the whole folder may be of that version. */
  readonly isOfOtherVersion: boolean;
  readonly table: string;

  constructor(table: string, what: string, isOfOtherVersion = false) {
    super(`a value of the table ${table} has a format that this program does not know: ${what}`);
    this.name = "UnknownRowError";
    this.isOfOtherVersion = isOfOtherVersion;
    this.table = table;
  }
}

/** Throws UnknownRowError where a value begins with another version than `version`. */
export function checkRowVersion(table: string, bytes: Uint8Array, version: number): void {
  if (bytes[0] !== version) throw new UnknownRowError(table, `its version is ${bytes[0]}, this program reads ${version}`, true);
}

/** Whether a value read from JSON is a `V`. The second member is never there: it keeps a check of one type from standing where another is wanted. */
export interface FieldCheck<V> {
  (value: unknown): boolean;
  readonly ofType?: (value: V) => V;
  readonly isOptional?: boolean;
}

/** Check of a member that may be absent. */
export interface OptionalCheck<V> extends FieldCheck<V> {
  readonly isOptional: true;
}

export type MemberChecks<T> = {
  readonly [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K> ? OptionalCheck<Exclude<T[K], undefined>> : FieldCheck<T[K]>;
};

export const text: FieldCheck<string> = (value) => typeof value === "string";
export const flag: FieldCheck<boolean> = (value) => typeof value === "boolean";
/** null too: JSON has no other word for a number without end, and all readers take it for one. */
export const number: FieldCheck<number> = (value) => typeof value === "number" || value === null;
/** Absent too: undefined is not written. */
export const anything: FieldCheck<unknown> = Object.assign(() => true, { isOptional: true });

export function nullable<V>(check: FieldCheck<V>): FieldCheck<V | null> {
  return (value) => value === null || check(value);
}

export function optional<V>(check: FieldCheck<V>): OptionalCheck<V> {
  return Object.assign((value: unknown) => value === undefined || check(value), { isOptional: true as const });
}

export function oneOf<const V>(values: readonly V[]): FieldCheck<V> {
  return (value) => values.includes(value as V);
}

export function list<V>(check: FieldCheck<V>): FieldCheck<readonly V[]> {
  return (value) => Array.isArray(value) && value.every(check);
}

export function pair<A, B>(first: FieldCheck<A>, second: FieldCheck<B>): FieldCheck<readonly [A, B]> {
  return (value) => Array.isArray(value) && value.length === 2 && first(value[0]) && second(value[1]);
}

/** An object of any names with such values. */
export function record<V>(check: FieldCheck<V>): FieldCheck<Readonly<Record<string, V>>> {
  return (value) => isObject(value) && Object.values(value).every(check);
}

export function object<T>(members: MemberChecks<T>): FieldCheck<T> {
  const checks = Object.entries(members) as Array<[string, FieldCheck<unknown>]>;
  return (value) => isObject(value) && firstBad(value, checks) === undefined;
}

export function either<A, B>(one: FieldCheck<A>, other: FieldCheck<B>): FieldCheck<A | B> {
  return (value) => one(value) || other(value);
}

function firstBad(value: Record<string, unknown>, checks: ReadonlyArray<readonly [string, FieldCheck<unknown>]>): string | undefined {
  return checks.find(([name, check]) => !(Object.hasOwn(value, name) ? check(ownMember(value, name)) : check.isOptional === true))?.[0];
}

/** Stored form of the objects of one table. */
export class StoredForm<T extends object> {
  readonly #table: string;
  readonly #checks: ReadonlyArray<readonly [string, FieldCheck<unknown>]>;

  constructor(table: string, members: MemberChecks<T>) {
    this.#table = table;
    this.#checks = Object.entries(members) as Array<[string, FieldCheck<unknown>]>;
  }

  /** Undefined members are left out. */
  encode(value: T): Uint8Array {
    const json = encoder.encode(JSON.stringify(value));
    const bytes = new Uint8Array(1 + json.length);
    bytes[0] = VERSION;
    bytes.set(json, 1);
    return bytes;
  }

  /** Gives back what `encode` was given. Throws UnknownRowError. */
  decode(bytes: Uint8Array): T {
    checkRowVersion(this.#table, bytes, VERSION);
    let value: unknown;
    try {
      value = JSON.parse(decoder.decode(bytes.subarray(1)));
    } catch {
      throw new UnknownRowError(this.#table, "it is no JSON");
    }
    if (!isObject(value)) throw new UnknownRowError(this.#table, "it is no object");
    const bad = firstBad(value, this.#checks);
    if (bad !== undefined) throw new UnknownRowError(this.#table, `its member "${bad}" is not what it should be`);
    return value as T;
  }
}

/** Decodes the JSON payload of a frame. */
export function decodePayload<T>(payload: Uint8Array): T {
  return JSON.parse(decoder.decode(payload)) as T;
}
