// Cuts a large batch of JSON records into runs of whole records that the kernel reads one by one: all of it is checked and counted before a record is taken, a
// piece a turn, so that neither 64 MiB of spaces nor 22 million records hold the engine.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { JSON_SCANNED_BYTES_MAX } from "../../../core/config/body-limits.ts";
import { BATCH_RECORDS_MAX, JSON_DEPTH_MAX } from "../../../core/config/limits.ts";
import type { ValidationReason } from "../../../core/layout/counters.ts";
import { STATUS_LONG_ELEMENT, STATUS_ODD_BODY } from "../../../core/layout/kernel-status.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import type { Body } from "../unit/body.ts";

/** Records in a row: where the first begins and the last ends. */
export interface RecordRun {
  readonly pointer: number;
  readonly end: number;
  readonly records: number;
}

/** Why a body of records is refused as a whole. */
export interface BodyProblem {
  readonly code: ValidationReason;
  readonly message: string;
}

const OPEN = 0x5b;
const CLOSE = 0x5d;

export const NO_ARRAY: BodyProblem = { code: "invalid_json", message: "a batch must be a JSON array of telemetry records" };
export const TOO_MANY: BodyProblem = {
  code: "batch_too_large",
  message: `a batch may have ${BATCH_RECORDS_MAX} records, got more; split it`,
};

/** Error of JSON that is too long to be parsed for an explanation; `at` counts from the body's beginning. */
export function problemAt(at: number): BodyProblem {
  return {
    code: "invalid_json",
    message: `the body is not JSON in UTF-8, or nests deeper than ${JSON_DEPTH_MAX} levels, in what begins at byte ${at}`,
  };
}

/** Error of a body with an element that nobody reads. */
export function longElement(at: number): BodyProblem {
  const message = `an element of a body may have ${JSON_SCANNED_BYTES_MAX} bytes, the one at byte ${at} has more; send smaller ones`;
  return { code: "payload_too_large", message };
}

/** Yields once for each piece that was scanned, and ends with the runs of the whole batch. */
export function* recordRunsOf(
  body: Body,
  { kernel, memory }: { readonly kernel: IngestExports; readonly memory: EngineMemory },
): Generator<undefined, readonly RecordRun[] | BodyProblem> {
  const end = body.pointer + body.bytes;
  const runs: RecordRun[] = [];
  let records = 0;
  let at = kernel.jsonSpaceEnd(body.pointer);
  if (at >= end) return { code: "invalid_json", message: "the body is not JSON: it has white space alone" };
  if (memory.bytes[at] !== OPEN) return NO_ARRAY;
  at = kernel.jsonSpaceEnd(at + 1);
  yield;
  while (memory.bytes[at] !== CLOSE) {
    const status = kernel.jsonRun(at, JSON_SCANNED_BYTES_MAX, JSON_SCANNED_BYTES_MAX, JSON_DEPTH_MAX - 1);
    if (status === STATUS_LONG_ELEMENT) return longElement(at - body.pointer);
    if (status === STATUS_ODD_BODY) return problemAt(kernel.jsonRunEnd() - body.pointer);
    runs.push({ pointer: at, end: kernel.jsonRunEnd(), records: kernel.jsonRunElements() });
    records += kernel.jsonRunElements();
    if (records > BATCH_RECORDS_MAX) return TOO_MANY;
    at = kernel.jsonRunNext();
    yield;
  }
  return kernel.jsonSpaceEnd(at + 1) === end ? runs : problemAt(at + 1 - body.pointer);
}
