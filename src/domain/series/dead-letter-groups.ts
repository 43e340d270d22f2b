// Dead letters of one body before they are written: those that differ in nothing but their place in it are one letter, with their number and their places.
// They are held until the body is done, however many units it takes; where they are more than may be held the oldest are written, and what equals those begins anew.
import { DEAD_LETTER_PLACES_MAX } from "../../core/config/limits.ts";
import type { DeadLetterEnvelope } from "../../core/protocol/coordinator-frame.ts";

/** Hex digits of a letter's id behind its request: the place of the record among those of the body, or among those that were refused. */
const INDEX_DIGITS = 12;

interface Group {
  readonly letter: Omit<DeadLetterEnvelope, "payload">;
  /** The payload as JSON. */
  readonly payload: string;
  count: number;
  /** First and last of each run of places. */
  readonly places: Array<[first: number, last: number]>;
}

/** Collects letters, in the order in which the first of each group came. */
export class DeadLetterGroups {
  readonly #groups = new Map<string, Group>();
  /** Characters that the letters take as JSON, without their places. */
  bytes = 0;

  /** Takes one letter of one record. */
  add({ payload: input, ...letter }: DeadLetterEnvelope): void {
    const payload = JSON.stringify(input) ?? "null";
    const index = Number.parseInt(letter.id.slice(-INDEX_DIGITS), 16);
    const request = letter.id.slice(0, -INDEX_DIGITS);
    const key = [request, letter.tenant, letter.topic, letter.reason, letter.field ?? "", letter.message, payload].join("\u0000");
    const group = this.#groups.get(key);
    if (group === undefined) {
      this.#groups.set(key, { letter, payload, count: 1, places: [[index, index]] });
      this.bytes += key.length;
    } else repeat(group, index);
  }

  /** The oldest as a JSON DeadLetterEnvelope, which is held no longer; undefined when there is none. */
  takeOldest(): string | undefined {
    const oldest = this.#groups.entries().next();
    if (oldest.done === true) return undefined;
    const [key, group] = oldest.value;
    this.#groups.delete(key);
    this.bytes -= key.length;
    return encode(group);
  }
}

function repeat(group: Group, index: number): void {
  group.count++;
  const run = group.places.at(-1) as [number, number];
  if (index === run[1] + 1) run[1] = index;
  else if (group.places.length < DEAD_LETTER_PLACES_MAX) group.places.push([index, index]);
}

function encode({ letter, payload, count, places }: Group): string {
  const head = JSON.stringify(count === 1 ? letter : { ...letter, count, places });
  return `${head.slice(0, -1)},"payload":${payload}}`;
}
