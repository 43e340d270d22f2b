// The EVENTS area: what the shard reports to its TypeScript side, and the counters of its work.
import { EVENTS, EVENTS_BYTES } from "../../../../core/layout/memory-map";
import {
  EVENT_ARRIVAL, EVENT_BYTES, EVENT_COUNT, EVENT_FLAGS, EVENT_KIND, EVENT_MEAN, EVENT_PEAK, EVENT_RATIO, EVENT_RAW_SD, EVENT_SD,
  EVENT_SLOT, EVENT_START, EVENT_TIME, EVENT_VALUE,
} from "../../../../core/layout/kernel-event";

/** One row gives at most a reset, a rise and an end per direction, a due chunk, a full list of bucket samples and a value as sent. */
const ROW_EVENTS_MAX: u32 = 8;
const EVENTS_CAPACITY: u32 = EVENTS_BYTES / EVENT_BYTES;

let count: u32 = 0;

/** Values that entered a ring. */
export let samplesTaken: f64 = 0;
export let samplesDuplicate: f64 = 0;
/** Gauge values older than the newest, each reported as EVENT_LATE. */
export let samplesLate: f64 = 0;
/** Cumulative values older than the newest: the later delta covers them. */
export let samplesLateCounter: f64 = 0;
/** Same time as the newest, other value, each reported as EVENT_REPLACE. */
export let samplesReplaced: f64 = 0;
export let staleMarkers: f64 = 0;
export let counterResets: f64 = 0;
export let excursions: f64 = 0;
export let openings: f64 = 0;
export let closings: f64 = 0;
/** Rows whose ref is bound to no slot. */
export let rowsUnbound: f64 = 0;
/** Rows whose value is a NaN that no decoder writes. */
export let rowsInvalid: f64 = 0;

export function countSample(): void { samplesTaken++; }
export function countSamples(samples: u32): void { samplesTaken += <f64>samples; }
export function countDuplicate(): void { samplesDuplicate++; }
export function countLate(): void { samplesLate++; }
export function countLateCounter(): void { samplesLateCounter++; }
export function countReplaced(): void { samplesReplaced++; }
export function countStale(): void { staleMarkers++; }
export function countReset(): void { counterResets++; }
export function countExcursion(): void { excursions++; }
export function countOpening(): void { openings++; }
export function countClosing(): void { closings++; }
export function countUnbound(): void { rowsUnbound++; }
export function countInvalid(): void { rowsInvalid++; }

/** Events in the EVENTS area, oldest first. */
export function eventsCount(): u32 {
  return count;
}

/** Forgets the events, once they have been read. */
export function eventsReset(): void {
  count = 0;
}

/** Whether everything that one more row may report still fits. */
// @ts-ignore
@inline
export function eventsFitRow(): bool {
  return count <= EVENTS_CAPACITY - ROW_EVENTS_MAX;
}

/** An event without a baseline. */
export function emitPlain(kind: u32, slot: u32, time: f64, value: f64, flags: u32, arrivalMs: f64): void {
  emit(kind, slot, time, value, 0, 0, 0, 0, 0, flags, time, 0, arrivalMs);
}

/** Appends one event; the caller has seen eventsFitRow(). */
export function emit(
  kind: u32, slot: u32, time: f64, value: f64, mean: f64, sd: f64, rawSd: f64, ratio: f64, n: u32, flags: u32, start: f64, peak: f64, arrivalMs: f64,
): void {
  const e = <usize>EVENTS + <usize>count * EVENT_BYTES;
  count++;
  store<u32>(e, kind, EVENT_KIND);
  store<u32>(e, slot, EVENT_SLOT);
  store<f64>(e, time, EVENT_TIME);
  store<f64>(e, value, EVENT_VALUE);
  store<f64>(e, mean, EVENT_MEAN);
  store<f64>(e, sd, EVENT_SD);
  store<f64>(e, ratio, EVENT_RATIO);
  store<u32>(e, n, EVENT_COUNT);
  store<u32>(e, flags, EVENT_FLAGS);
  store<f64>(e, start, EVENT_START);
  store<f64>(e, rawSd, EVENT_RAW_SD);
  store<f64>(e, arrivalMs, EVENT_ARRIVAL);
  store<f64>(e, peak, EVENT_PEAK);
}
