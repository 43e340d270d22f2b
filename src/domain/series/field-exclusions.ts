/**
 * LOG_FIELD_EXCLUSIONS: fields that are taken out of every record and dead letter before anything of it is stored.
 *
 * A path is names with dots between them, `*` for any name of one level, and goes through arrays: `attributes.user.email`, `attributes.*.token`. It counts
 * from the record itself and from where senders put their own fields (`attributes`, `labels`, a `body` that is JSON text), so that `password` means all. A dotted name that
 * is one key (`user.email` as OpenTelemetry writes it) is found too.
 */
import { isObject, ownMember } from "../../core/collections/own-member.ts";

/** Where senders put fields of their own. */
const CONTAINERS = ["attributes", "resourceAttributes", "labels", "body"] as const;
const ANY = "*";
/** Without these nothing could be stored under a name and a time. */
const NEEDED: ReadonlySet<string> = new Set(["service_id", "type", "metric_name", "value", "timestamp", ANY]);
/** Beginning of a log's body that is read as JSON: an object or an array. */
const JSON_TEXT = /^\s*[{[]/;

type Path = readonly string[];

/** Paths of fields; empty for none. */
export class FieldExclusions {
  readonly #paths: readonly Path[];

  /** Throws RangeError on a path with an empty name, and on a field that every record needs. */
  constructor(list: string) {
    const paths = list
      .split(",")
      .map((path) => path.trim())
      .filter((path) => path !== "");
    for (const path of paths) if (path.split(".").includes("")) throw new RangeError(`${JSON.stringify(path)} has an empty name`);
    const needed = paths.find((path) => NEEDED.has(path));
    if (needed !== undefined)
      throw new RangeError(`${JSON.stringify(needed)} is needed to store a record at all, write attributes.${needed}`);
    this.#paths = paths.map((path) => path.split("."));
  }

  get isEmpty(): boolean {
    return this.#paths.length === 0;
  }

  /** The value without the fields: itself where it has none of them, else a copy of what changes. */
  strip<T>(value: T): T {
    if (this.#paths.length === 0 || typeof value !== "object" || value === null || Array.isArray(value)) return value;
    let stripped: unknown = value;
    for (const path of this.#paths) {
      stripped = without(stripped, path);
      for (const container of CONTAINERS) if (path[0] !== container) stripped = inside(stripped, container, path);
    }
    return stripped as T;
  }
}

/** `value` with what the path names taken out of its member `name`. */
function inside(value: unknown, name: string, path: Path): unknown {
  if (!isObject(value) || !Object.hasOwn(value, name)) return value;
  const member = ownMember(value, name);
  const stripped = typeof member === "string" && name === "body" ? withoutText(member, path) : without(member, path);
  return stripped === member ? value : withMember(value, name, stripped);
}

function without(value: unknown, path: Path): unknown {
  if (Array.isArray(value)) {
    const members = value.map((member) => without(member, path));
    return members.some((member, i) => member !== value[i]) ? members : value;
  }
  if (!isObject(value)) return value;
  let result: unknown = value;
  // One key may be several names of the path: "user.email".
  for (let names = 1; names <= path.length; names++) {
    const rest = path.slice(names);
    for (const key of keysOf(result as Readonly<Record<string, unknown>>, path.slice(0, names).join("."))) {
      result = rest.length === 0 ? withoutMember(result as Readonly<Record<string, unknown>>, key) : inside(result, key, rest);
    }
  }
  return result;
}

function keysOf(value: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  if (name === ANY) return Object.keys(value);
  return Object.hasOwn(value, name) ? [name] : [];
}

/** JSON text without the fields; any other text as it is. */
function withoutText(text: string, path: Path): string {
  if (!JSON_TEXT.test(text)) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const stripped = without(value, path);
  return stripped === value ? text : JSON.stringify(stripped);
}

/** Entries and not assignments: "__proto__" is a name like any other. */
function withMember(value: Readonly<Record<string, unknown>>, name: string, member: unknown): unknown {
  return Object.fromEntries(Object.entries(value).map(([key, old]) => [key, key === name ? member : old]));
}

function withoutMember(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}
