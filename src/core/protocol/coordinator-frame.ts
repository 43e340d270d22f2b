// What engines send the coordinator through their shared ring, in order. The coordinator commits in that order, so a checkpoint that it
// has stored stands behind every verdict its shard gave before.

import type { Explanation } from "./explanation-facts.ts";

/** Verdict: an EpisodeFrame, packed (domain/anomaly/episode-codec.ts) or as JSON. */
export const FRAME_VERDICT = 1;
/** Log, trace, event, profile or slo record: JSON RecordEnvelope. */
export const FRAME_RECORD = 2;
/** A rejected record, or rejected records that have entered after all: JSON DeadLetterEnvelope or DeadLettersEnded. */
export const FRAME_DEAD_LETTER = 3;
/** {partition u32, block number u32} and a chunk block (domain/codec/chunk-block.ts). */
export const FRAME_BLOCK = 4;
/**
 * {header bytes u32} JSON CheckpointHeader, padded to 4, the last part of the opaque state of one partition, and in the last `coldBytes` what changes among its
 * streams that left memory: {count u32} serials of those that are back, then entries (domain/kernel/cold-entry.ts) of those that left.
 */
export const FRAME_CHECKPOINT = 5;
/**
 * JSON LogMarkFrame: every record and dead letter logged up to there has been sent before this frame, and the frame has the events that were accepted
 * behind the writer's mark before.
 */
export const FRAME_LOG_MARK = 6;
/** {partition u32, generation u32, part u32} and a part of a partition's state. It counts once its checkpoint frame has come. */
export const FRAME_CHECKPOINT_PART = 7;
export const CHECKPOINT_PART_HEADER_BYTES = 12;
/** Type, unit and help of a metric: JSON MetricMetadataEnvelope. */
export const FRAME_METADATA = 8;

/**
 * {partition u32, since u32} and edges (domain/trace/call-edges.ts): the calls between services that a partition of traces has seen since its checkpoint of that
 * number, in place of those it has told before. The next checkpoint frame of the partition seals them; what no checkpoint seals is made again by a replay.
 */
export const FRAME_CALLS = 9;
export const CALLS_HEADER_BYTES = 8;

/** Spans to be kept as records: domain/trace/span-block.ts. */
export const FRAME_SPAN_BLOCK = 10;

/** Labels that telemetry says of a service: JSON ServiceLabelsEnvelope. */
export const FRAME_SERVICE_LABELS = 11;

/** {partition u32, detector u32, page u32} and a page of states of a detector of the Watchdog, as its engine packs them; no bytes delete the page. */
export const FRAME_DETECTOR_STATES = 12;
export const DETECTOR_STATES_HEADER_BYTES = 12;

/** The end of an episode: a verdict like those of FRAME_VERDICT, for which nobody waits. */
export const FRAME_CLOSING = 13;
/** A frame that could not be stored stands here no more (commits/frame-sifting.ts): its order stays, and nothing is stored of it. No engine sends it. */
export const FRAME_SET_ASIDE = 14;
/** The scope that was the first to send a metric: JSON MetricScopeEnvelope. */
export const FRAME_METRIC_SCOPE = 15;
/** Nothing has changed in a partition since its last checkpoint, whose state stands for more of the log: JSON CheckpointNote. */
export const FRAME_CHECKPOINT_NOTE = 16;
/** Frames that are stored as soon as they can be. */
export const PROMPT_FRAMES: ReadonlySet<number> = new Set([FRAME_VERDICT, FRAME_DEAD_LETTER, FRAME_SERVICE_LABELS]);
/** Frames that are stored in `control`; all others are stored in `series`, behind those that came before them. */
export const CONTROL_FRAMES: ReadonlySet<number> = new Set([...PROMPT_FRAMES, FRAME_CLOSING]);
/** The kind of frame that an episode travels in. */
export function episodeKind({ transition }: Pick<EpisodeFrame, "transition">): number {
  return isClosing(transition) ? FRAME_CLOSING : FRAME_VERDICT;
}

/** Frames that the coordinator wants word of: any frame, or one of PROMPT_FRAMES, or that a ring fills. */
export type AwaitedFrames = "any" | "prompt";

/** The detector of long baselines of pairs. */
export const DETECTOR_PAIRS = 1;
/** Detectors of services, a page each, and their models, which the coordinator itself stores. */
export const DETECTOR_SERVICES = 2;
export const DETECTOR_SERVICE_MODELS = 3;

/** Where a page of states belongs. */
export interface StatesPage {
  readonly partition: number;
  readonly detector: number;
  readonly page: number;
}

/** Payload of FRAME_DETECTOR_STATES; it begins `buffer`, which may be used again once it has been sent. */
export function encodeStatesFrame(
  { partition, detector, page }: StatesPage,
  bytes: Uint8Array,
  buffer = new Uint8Array(DETECTOR_STATES_HEADER_BYTES + bytes.length),
): Uint8Array {
  const payload = buffer.subarray(0, DETECTOR_STATES_HEADER_BYTES + bytes.length);
  const view = new DataView(payload.buffer, payload.byteOffset);
  [partition, detector, page].forEach((word, index) => view.setUint32(4 * index, word, true));
  payload.set(bytes, DETECTOR_STATES_HEADER_BYTES);
  return payload;
}

/** Reads it; the bytes are a view. */
export function readStatesFrame(payload: Uint8Array): StatesPage & { readonly bytes: Uint8Array } {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const [partition, detector, page] = [view.getUint32(0, true), view.getUint32(4, true), view.getUint32(8, true)];
  return { partition, detector, page, bytes: payload.subarray(DETECTOR_STATES_HEADER_BYTES) };
}

/** One frame as taken from a ring: the payload is a copy that the taker owns. */
export interface EngineFrame {
  readonly kind: number;
  readonly payload: Uint8Array;
}

/** End of a log block: segments count from 0, offsets in bytes. */
export interface LogPosition {
  readonly segment: number;
  readonly offset: number;
}

export interface LogMark extends LogPosition {
  readonly epoch: number;
  readonly lane: number;
}

/** Accepted events of a tenant in a month (domain/access/billing-month.ts), by type in the order of RECORD_TYPES. */
export interface TenantUsage {
  readonly tenant: string;
  readonly month: number;
  readonly counts: readonly number[];
}

/** A mark on its way to the coordinator, which stores both or neither. */
export interface LogMarkFrame {
  readonly mark: LogMark;
  readonly usage: readonly TenantUsage[];
}

/** Coverage of a partition's checkpoint. */
export interface CheckpointHeader {
  readonly partition: number;
  readonly epoch: number;
  /** Per writer of that epoch: everything up to here is in the state. Epochs before are covered whole. */
  readonly vector: readonly LogMark[];
  /** The number that the partition's next block will take; stored blocks from it on are void. */
  readonly nextBlock: number;
  readonly streams: number;
  /** Another number than that of the checkpoint before: its parts do not overwrite the other's. */
  readonly generation: number;
  /** Parts of the state that came ahead of this one. */
  readonly parts: number;
  /** The serial that the next stream to leave memory will get. */
  readonly nextSerial: number;
  readonly coldBytes: number;
}

/** What the stored checkpoint of that generation covers now, and how many of its parts are still of use: those of refs are not in a later epoch. */
export type CheckpointNote = Pick<CheckpointHeader, "partition" | "generation" | "epoch" | "vector" | "parts">;

/** Payload of FRAME_CHECKPOINT; `last` is the last part of the state, `changes` are those among the streams that left memory. */
export function joinCheckpoint(header: CheckpointHeader, last: Uint8Array, changes: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = (text.byteLength + 3) & ~3;
  const bytes = new Uint8Array(4 + padded + last.byteLength + changes.byteLength).fill(0x20, 4, 4 + padded);
  new DataView(bytes.buffer).setUint32(0, padded, true);
  bytes.set(text, 4);
  bytes.set(last, 4 + padded);
  bytes.set(changes, 4 + padded + last.byteLength);
  return bytes;
}

/** A JSON value of an attribute. */
export type AttributeValue = string | number | boolean | null | readonly AttributeValue[] | { readonly [key: string]: AttributeValue };
export type Attributes = { readonly [key: string]: AttributeValue };

/** The names by which people know a stream. */
export interface StreamName {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly attributes: Attributes;
}

/** A transition of one stream's episode. `verdict` is the verdict record of domain/detection/verdict.ts, null where the episode closes. */
/** Whether an episode goes on no more. */
export function isClosing(transition: EpisodeFrame["transition"]): boolean {
  return transition === "close" || transition === "end";
}

export interface EpisodeFrame extends StreamName {
  /** close: what was found is over. end: nothing more is heard of it, and whether it is over nobody knows. */
  readonly transition: "open" | "update" | "close" | "end";
  /** 32 hex digits: hash of identity, detector, direction and start; the same again after a replay. */
  readonly episodeId: string;
  /** What its sender knows it by, whenever it began: hash of tenant and labels of an alert of others; absent for what is found here. */
  readonly fingerprint?: string | undefined;
  readonly detector: string;
  readonly direction: "high" | "low";
  readonly startedAtMs: number;
  /** Time of the sample that moved it. */
  readonly observedAtMs: number;
  /** Signed equivalent z of the peak so far. */
  readonly z: number;
  readonly verdict: unknown;
  readonly explanation: Explanation;
  /** Monotonic ms at which the bytes had arrived; 0 while a log is replayed. */
  readonly arrivalMs: number;
  /** Of a closing by which what was found is the new level: that, and what was expected before. */
  readonly level?: { readonly from: number; readonly to: number } | undefined;
}

export interface RecordEnvelope {
  readonly tenant: string;
  /** 32 hex digits: the record's natural key (content hash, or Idempotency-Key and index); stored once per id and time. */
  readonly id: string;
  readonly timeMs: number;
  readonly receivedMs: number;
  readonly environment: string;
  /** The record as in section 2.1 of the contract. */
  readonly record: Readonly<Record<string, unknown>>;
}

/** Metadata that a sender gives for one metric of a tenant; with `sender`, the type that this one alone gives it, who contradicts others (unknown where it contradicts itself). */
export interface MetricMetadataEnvelope {
  readonly tenant: string;
  readonly metricName: string;
  readonly type: "unknown" | "counter" | "gauge" | "histogram" | "gaugehistogram" | "summary" | "info" | "stateset";
  readonly unit: string;
  readonly help: string;
  readonly sender?: number;
}

/** Which scope of OpenTelemetry was the first to send a metric of a service, by hashes with the seed of the data folder. */
export interface MetricScopeEnvelope {
  readonly tenant: string;
  /** Of tenant, service and metric: 64 bits as a decimal number. */
  readonly metric: string;
  /** 32 bits, not 0. */
  readonly scope: number;
}

/** Labels of a service as a resource, a record or a scraped target gives them. */
export interface ServiceLabelsEnvelope {
  readonly tenant: string;
  readonly serviceId: string;
  readonly labels: { readonly team?: string; readonly owner?: string };
}

export interface DeadLetterEnvelope {
  readonly tenant: string;
  readonly id: string;
  readonly reason: string;
  readonly field: string | null;
  readonly message: string;
  /** The way it came in: json, remote_write. */
  readonly topic: string;
  readonly receivedMs: number;
  readonly payload: unknown;
  /** Records of one request that this letter stands for, where they are several: equal in payload, reason and message. */
  readonly count?: number;
  /** First and last of each run of their places: in the array of a JSON batch, else among the refused items of the request. At most DEAD_LETTER_PLACES_MAX runs. */
  readonly places?: ReadonlyArray<readonly [first: number, last: number]>;
  /** The request had no credential: such letters give way before others. */
  readonly anonymous?: boolean;
  /** When an operator put another payload in the place of the one that came. */
  readonly correctedMs?: number;
}

/**
 * Letters whose records have entered: in the same block of the log as these, so that both are there after a crash, or neither. It travels as
 * FRAME_DEAD_LETTER, behind the letters themselves.
 */
export interface DeadLettersEnded {
  readonly ended: {
    readonly tenant: string;
    /** Id of the replay job. */
    readonly job: string;
    /** Received time and id of each. */
    readonly letters: ReadonlyArray<readonly [receivedMs: number, id: string]>;
  };
}
