// Deliveries as stored values: version 2, message Delivery of schemas/stored.proto, with a part of its own for each kind. Rows of version 1 were JSON and are read.
import { DELIVERY_STATES, type Delivery, type DeliveryState } from "../../domain/delivery/delivery.ts";
import { stored } from "../state/generated/stored-rows.ts";
import { checkRowVersion } from "../state/stored-json.ts";
import { type MessageCodec, readStoredMessage, storedMessage, storedText } from "../state/stored-message.ts";

const VERSION_JSON = 1;
const VERSION = 2;
const DAMAGE = "a stored delivery is damaged";
const DELIVERY: MessageCodec = stored.Delivery;
const ENTRY: MessageCodec = stored.OutboxEntry;

/** A message as generated code reads it. */
export type Message = ReturnType<MessageCodec["decode"]>;

/** How rows of one kind become messages, and messages rows. */
export interface DeliveryMapping<R> {
  readonly table: string;
  /** Its part of the message. */
  readonly part: "channel" | "event";
  progressOf(row: R): Delivery;
  partOf(row: R): object;
  rowOf(progress: Delivery, part: Message): R;
  /** Reads a row of version 1. */
  ofJson(bytes: Uint8Array): R;
}

/** Stored form of the deliveries of one kind. */
export class DeliveryForm<R> {
  readonly #mapping: DeliveryMapping<R>;

  constructor(mapping: DeliveryMapping<R>) {
    this.#mapping = mapping;
  }

  encode = (row: R): Uint8Array => {
    const { part, progressOf, partOf } = this.#mapping;
    const { state, attempts, firstTriedAtMs, nextAttemptAtMs, error } = progressOf(row);
    const progress = { state, attempts, firstTriedMs: firstTriedAtMs, nextAttemptMs: nextAttemptAtMs, error: optionalText(error) };
    return storedMessage(VERSION, DELIVERY.encode({ ...progress, [part]: partOf(row) }).finish());
  };

  /** Gives back what `encode` was given. Throws on another version, and where it is damaged. */
  decode = (bytes: Uint8Array): R => {
    const { table, part, rowOf, ofJson } = this.#mapping;
    if (bytes[0] === VERSION_JSON) return ofJson(bytes);
    checkRowVersion(table, bytes, VERSION);
    return readStoredMessage(DELIVERY, bytes, DAMAGE, (message) => rowOf(progressOf(message), message[part]));
  };
}

/** Where a delivery waits that is not done with: its receiver, and whether it leaves before others. */
export interface OutboxEntry {
  readonly receiver: string;
  readonly isUrgent: boolean;
}

export function encodeEntry({ receiver, isUrgent }: OutboxEntry): Uint8Array {
  return storedMessage(VERSION, ENTRY.encode({ lane: storedText(receiver), urgent: isUrgent }).finish());
}

/** `ofJson` reads a row of version 1. */
export function decodeEntry(bytes: Uint8Array, ofJson: (bytes: Uint8Array) => OutboxEntry): OutboxEntry {
  if (bytes[0] === VERSION_JSON) return ofJson(bytes);
  checkRowVersion("outbox", bytes, VERSION);
  return readStoredMessage(ENTRY, bytes, "a stored place of the outbox is damaged", ({ lane: receiver, urgent }) => ({
    receiver,
    isUrgent: urgent,
  }));
}

/** A text that may be absent, as a message has it. */
export function optionalText(text: string | null | undefined): string | null {
  return text == null ? null : storedText(text);
}

/** The one of these words; throws where it is of another list. */
export function wordOf<const T extends string>(all: readonly T[], word: string): T {
  const one = all.find((each) => each === word);
  if (one === undefined) throw new RangeError(`a word of another list: ${word}`);
  return one;
}

function progressOf({ state, attempts, firstTriedMs, nextAttemptMs, error }: Message): Delivery {
  const known: DeliveryState = wordOf(DELIVERY_STATES, state);
  return { state: known, attempts, firstTriedAtMs: firstTriedMs, nextAttemptAtMs: nextAttemptMs, error };
}
