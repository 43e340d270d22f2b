// Ids of logs, events and other records of one request: a repetition of the request makes the same ids, whichever engine reads it, in how many units, and after a
// restart. So an id is made of what came alone: the request's Idempotency-Key and the record's place in it; else identity, content and nanosecond of the record, and
// its number among those of the request that are equal in all of that. A record without a time of its own is no other request's.
// Senders whose clock counts milliseconds cut a burst of equal lines into requests within one: with what a long request begins, the one before it has perhaps ended. It is
// a repeat of what another request begins with alone.
import { BURST_BODY_BYTES_MIN, EQUAL_RECORDS_KNOWN_MAX } from "../../../core/config/body-limits.ts";
import type { Body } from "./body.ts";

/** Hex digits of an id that a double holds. */
const DOUBLE_DIGITS = 13;

export interface RecordIdsDependencies {
  /** contentHash(). */
  readonly hash: (text: string) => string;
  readonly tenantName: (index: number) => string;
  readonly requestId: (admission: number) => string;
}

/** What makes a record that one: JSON of its identity and content; undefined for a log or event without a time. */
export type NaturalKey = string | undefined;

/** Gives the records of one body their ids, in the order of the body. */
export class RecordIds {
  readonly #dependencies: RecordIdsDependencies;
  /** How often each content came in the body so far, by the beginning of its hash. */
  readonly #counts = new Map<number, number>();
  /** What the body begins with: undefined before its first record, "" behind those that equal it. */
  #leading: string | undefined;

  constructor(dependencies: RecordIdsDependencies) {
    this.#dependencies = dependencies;
  }

  /** A body begins. */
  begin(): void {
    if (this.#counts.size > 0) this.#counts.clear();
    this.#leading = undefined;
  }

  /** The id, 32 hex digits, of the body's record at a place; `isOnce`: equal ones of one request are one record all the same. */
  idOf(body: Body, index: number, natural: NaturalKey, isOnce = false): string {
    const { hash, tenantName, requestId } = this.#dependencies;
    const tenant = tenantName(body.tenant);
    if (body.idempotencyKey !== "") return hash(JSON.stringify([tenant, body.idempotencyKey, index]));
    const isLeading = this.#leads(natural);
    if (natural === undefined) return hash(JSON.stringify([tenant, "request", requestId(body.admission), index]));
    const first = hash(JSON.stringify(tenant) + natural);
    const number = isOnce ? 0 : this.#numberOf(first, index);
    if (isLeading && !isOnce && body.bytes >= BURST_BODY_BYTES_MIN) return hash(`${first} leading ${number}`);
    return number === 0 ? first : hash(`${first} ${number}`);
  }

  /** Whether a record and all before it in the body are equal. */
  #leads(natural: NaturalKey): boolean {
    this.#leading ??= natural ?? "";
    if (this.#leading !== natural) this.#leading = "";
    return this.#leading !== "";
  }

  /** The record's number among its equals; of a request of more contents than are counted, its place among all, below 0. */
  #numberOf(hash: string, index: number): number {
    const key = Number.parseInt(hash.slice(0, DOUBLE_DIGITS), 16);
    const before = this.#counts.get(key);
    if (before === undefined && this.#counts.size >= EQUAL_RECORDS_KNOWN_MAX) return -1 - index;
    this.#counts.set(key, (before ?? 0) + 1);
    return before ?? 0;
  }
}
