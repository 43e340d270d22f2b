// Bodies that nobody sent, of series that exist nowhere, for the rehearsal of a start: as Prometheus and services that report for themselves would send them.
import { BODY_JSON_BATCH, BODY_JSON_SINGLE, BODY_REMOTE_WRITE_1 } from "../../core/protocol/body-kind.ts";
import { bytesField, varintBytes } from "../../domain/codec/protobuf-field.ts";

const text = new TextEncoder();
/** Time between two samples of a series. */
const STEP_MS = 1_000;
/** Series that every repeat has samples of, and new ones in each. */
const KNOWN_SERIES = 32;
const NEW_SERIES = 4;
const BATCH_RECORDS = 8;
const SERIES_PER_SERVICE = 16;
/** A series of eight leaves its usual values once in so many repeats, but not in the first. */
const USUAL_REPEATS = 40;
const BETWEEN_DEPARTURES = 64;

export interface MadeUpBody {
  /** BODY_* of body-kind.ts. */
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** Bodies of so many repeats, the last just before `nowMs`. */
export function* madeUpBodies(repeats: number, nowMs: number): Generator<MadeUpBody> {
  for (let repeat = 0; repeat < repeats; repeat++) {
    const timeMs = nowMs - (repeats - repeat) * STEP_MS;
    const newSeries = KNOWN_SERIES + NEW_SERIES * repeat;
    yield { kind: BODY_REMOTE_WRITE_1, bytes: remoteWriteBody(0, KNOWN_SERIES, repeat, timeMs) };
    yield { kind: BODY_REMOTE_WRITE_1, bytes: remoteWriteBody(newSeries, NEW_SERIES, repeat, timeMs) };
    yield { kind: BODY_JSON_SINGLE, bytes: encoded(record(repeat % BATCH_RECORDS, repeat, timeMs)) };
    const records = Array.from({ length: BATCH_RECORDS }, (_, i) => record(i, repeat, timeMs + 1));
    yield { kind: BODY_JSON_BATCH, bytes: encoded(records) };
  }
}

/** Value of a series: it wanders a little around a level of its own, and leaves it now and then. */
function levelOf(series: number, repeat: number): number {
  const usual = 100 + 10 * (series % 7) + ((series * 31 + repeat * 17) % 11) / 10;
  return repeat > USUAL_REPEATS && series % 8 === repeat % BETWEEN_DEPARTURES ? usual * 9 : usual;
}

function serviceOf(series: number): string {
  return `rehearsed-${Math.floor(series / SERIES_PER_SERVICE)}`;
}

/** A body of remote-write with a sample of each of `count` series from `first` on. */
function remoteWriteBody(first: number, count: number, repeat: number, timeMs: number): Uint8Array {
  const series = Array.from({ length: count }, (_, i) => {
    const labels = [
      ["__name__", `rehearsed_seconds_${(first + i) % SERIES_PER_SERVICE}`],
      ["job", serviceOf(first + i)],
    ] as const;
    const named = labels.flatMap(([name, value]) =>
      bytesField(1, [...bytesField(1, text.encode(name)), ...bytesField(2, text.encode(value))]),
    );
    const value = new Uint8Array(new Float64Array([levelOf(first + i, repeat)]).buffer);
    return bytesField(1, [...named, ...bytesField(2, [DOUBLE_1, ...value, VARINT_2, ...varintBytes(timeMs)])]);
  });
  return snappyLiteral(series.flat());
}

function record(series: number, repeat: number, timeMs: number) {
  return {
    service_id: serviceOf(series),
    type: "metric",
    metric_name: `rehearsed_depth_${series % SERIES_PER_SERVICE}`,
    value: levelOf(series, repeat),
    timestamp: new Date(timeMs).toISOString(),
    attributes: { region: "nowhere" },
  };
}

function encoded(value: unknown): Uint8Array {
  return text.encode(JSON.stringify(value));
}

// The wire of protobuf and of snappy, as far as these bodies need it.

/** Tags of a double in field 1 and of a varint in field 2. */
const DOUBLE_1 = 0x09;
const VARINT_2 = 0x10;
/** Tag of a literal whose length, less one, are the next two bytes. */
const LITERAL_2 = 61 << 2;

/** A block without copies, of less than 64 KiB. */
function snappyLiteral(content: readonly number[]): Uint8Array {
  const last = content.length - 1;
  return Uint8Array.from([...varintBytes(content.length), LITERAL_2, last & 255, last >> 8, ...content]);
}
