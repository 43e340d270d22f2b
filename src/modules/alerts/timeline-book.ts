// Timelines of alerts as they are stored: table `timeline`, a row a line. A line is stored in the transaction that stores what it tells, and its key follows from
// what it says: whatever is stored again after a crash stands there once.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { TIMELINE_COUNTS_MAX, TIMELINE_LINES_FIRST, TIMELINE_LINES_MAX } from "../../core/config/alert-limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { TIMELINE_KINDS, type TimelineKind } from "../../domain/alerting/alert-changes.ts";
import { lineText, type TimelineLine } from "../../domain/alerting/timeline.ts";
import { type KnownBeside, readSentence, type SentenceFacts, sentenceBytes } from "../../domain/anomaly/sentence.ts";
import { ByteReader } from "../../domain/codec/byte-reader.ts";
import { KeyBuilder, KeyReader, prefixEnd } from "../../domain/codec/key.ts";
import { stored } from "../state/generated/stored-rows.ts";
import { checkRowVersion } from "../state/stored-json.ts";
import { type MessageCodec, readStoredMessage, storedMessage, storedText } from "../state/stored-message.ts";
import { idBytes, TIME_BYTES, tenantIdKey } from "../state/tables.ts";

const TABLE = "timeline";
const VERSION = 1;
const DAMAGE = "a stored line of a timeline is damaged";
const LINE: MessageCodec = stored.TimelineLine;
/** A line has neither metric nor z. */
const NOTHING_BESIDE: KnownBeside = { z: 0, names: [""] };
/** Bytes of a key behind the alert: time, rank of the kind, hash. */
const RANK_BYTES = 2;
const HASH_DIGITS = 32;

/** A line and where it stands: texts of positions order as lines do. */
export interface StoredLine extends TimelineLine {
  readonly position: string;
}

export class TimelineBook {
  readonly #store: KeyValueStore;
  /** Lines that the timeline of an alert has at most, by the alert's id: a commit that failed, or a line that stands there already, has added none. */
  readonly #counts = new BoundedMap<string, number>(TIMELINE_COUNTS_MAX);

  constructor(control: KeyValueStore) {
    this.#store = control;
  }

  /** Lines of an alert, oldest first. */
  read(tenant: string, alertId: string): StoredLine[] {
    return this.#rows(tenant, alertId).map(({ key, value }) => lineOfRow(key, value));
  }

  /** Operations that add lines; where there are too many, those in the middle go: how it began and what came last stay. An alert that is new has none yet. */
  operations(tenant: string, alertId: string, lines: readonly TimelineLine[], isNew = false): StoreOperation[] {
    if (lines.length === 0) return [];
    const added = lines.map((line) => ({ table: TABLE, key: keyOf(tenant, alertId, line), value: encodeLine(line) }));
    const known = isNew ? 0 : this.#counts.get(alertId);
    if (known !== undefined && known + added.length <= TIMELINE_LINES_MAX) {
      this.#counts.set(alertId, known + added.length);
      return added;
    }
    const rows = this.#rows(tenant, alertId);
    const over = Math.max(0, rows.length + added.length - TIMELINE_LINES_MAX);
    const dropped = rows.slice(TIMELINE_LINES_FIRST, TIMELINE_LINES_FIRST + over);
    this.#counts.set(alertId, rows.length - dropped.length + added.length);
    return [...dropped.map(({ key }) => ({ table: TABLE, key, value: undefined })), ...added];
  }

  /** Operations that delete the timeline of an alert with the alert. */
  removal(tenant: string, alertId: string): StoreOperation[] {
    this.#counts.delete(alertId);
    return this.#rows(tenant, alertId).map(({ key }) => ({ table: TABLE, key, value: undefined }));
  }

  #rows(tenant: string, alertId: string) {
    const from = tenantIdKey(tenant, alertId);
    // One transaction may add a few beyond the maximum; the next takes them along.
    return this.#store.range(TABLE, { from, to: prefixEnd(from) as Uint8Array, limit: 2 * TIMELINE_LINES_MAX });
  }
}

function keyOf(tenant: string, alertId: string, line: TimelineLine): Uint8Array {
  return tenantIdKey(tenant, alertId, (key) => withPosition(key, line));
}

/** The position of a line as a text. */
export function keyOfLine(line: TimelineLine): string {
  return Buffer.from(withPosition(new KeyBuilder(), line).finish()).toString("hex");
}

function withPosition(key: KeyBuilder, line: TimelineLine): KeyBuilder {
  const { atMs, kind, by } = line;
  return key
    .time(atMs)
    .u16(TIMELINE_KINDS.indexOf(kind))
    .fixed(idBytes(hash128(JSON.stringify([kind, by, lineText(line)]))));
}

function encodeLine({ kind, by, text, sentence }: TimelineLine): Uint8Array {
  const message = {
    kind,
    by: by === null ? null : storedText(by),
    text: storedText(text),
    sentence: sentence === undefined ? null : sentenceBytes(sentence, NOTHING_BESIDE),
  };
  return storedMessage(VERSION, LINE.encode(message).finish());
}

function lineOfRow(key: Uint8Array, value: Uint8Array): StoredLine {
  checkRowVersion(TABLE, value, VERSION);
  const timeAt = key.length - TIME_BYTES - RANK_BYTES - HASH_DIGITS / 2;
  return readStoredMessage(LINE, value, DAMAGE, ({ kind, by, text, sentence }) => {
    if (!TIMELINE_KINDS.includes(kind)) throw new RangeError(`a line of another kind: ${kind}`);
    return {
      atMs: new KeyReader(key, timeAt).time(),
      kind: kind as TimelineKind,
      by,
      text,
      ...(sentence !== null && { sentence: readSentence(new ByteReader(sentence, DAMAGE), NOTHING_BESIDE) as SentenceFacts }),
      position: Buffer.from(key.subarray(timeAt)).toString("hex"),
    };
  });
}
