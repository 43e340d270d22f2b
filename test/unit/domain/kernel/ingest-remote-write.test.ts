import { beforeEach, describe, expect, it } from "vitest";
import { REJECT_BYTES, REJECT_IN_FUTURE, REJECT_TOO_OLD } from "../../../../src/core/layout/kernel-event.ts";
import {
  STATUS_BAD_LABELS,
  STATUS_BAD_PROTOBUF,
  STATUS_DONE,
  STATUS_OK,
  STATUS_REJECTS_FULL,
  STATUS_ROWS_FULL,
  STATUS_UNKNOWN_STREAM,
} from "../../../../src/core/layout/kernel-status.ts";
import { DECOMPRESSED, REJECTS_BYTES, SERIES_INDEX_BYTES, STAGING, STAGING_BYTES } from "../../../../src/core/layout/memory-map.ts";
import { ROW_BYTES, ROW_OFFSET } from "../../../../src/core/layout/row-frame.ts";
import { BASE_MS, ENGINES, IngestHarness, WINDOW_MS } from "../../../support/ingest-harness.ts";
import { bytesField, encodeBody, labelField, type Series, sampleField, varintField } from "../../../support/remote-write-body.ts";

const harness = new IngestHarness();
const { kernel } = harness;

beforeEach(() => {
  kernel.keyTableClear();
  kernel.stagingReset(ENGINES);
  kernel.rejectsReset();
});

const seriesOf = (name: string, samples: number, from = BASE_MS): Series => ({
  labels: [["__name__", name]],
  samples: Array.from({ length: samples }, (_, i) => ({ value: 1, time: from + i })),
});

function begin(body: Uint8Array, maxRows = 100): number {
  harness.place(DECOMPRESSED, body);
  return kernel.remoteWriteBegin(DECOMPRESSED, body.length, 1, BASE_MS, BASE_MS, BASE_MS + WINDOW_MS, maxRows);
}

describe("remote-write flow", () => {
  it("asks for each unknown stream once, and stands still until it is told", () => {
    const body = encodeBody([seriesOf("a", 1), seriesOf("b", 1), seriesOf("a", 1)]);
    expect(begin(body)).toBe(3);
    expect([kernel.remoteWriteStep(), kernel.remoteWriteStep()]).toEqual([STATUS_UNKNOWN_STREAM, STATUS_UNKNOWN_STREAM]);
    expect(harness.unknownLabels()).toEqual([["__name__", "a"]]);
    expect(kernel.remoteWriteResolve(5, 1, 200)).toBe(STATUS_OK);
    expect([kernel.foundRef(), kernel.foundDestination(), kernel.foundPartition()]).toEqual([5, 1, 200]);
    expect(kernel.remoteWriteStep()).toBe(STATUS_UNKNOWN_STREAM);
    expect(harness.unknownLabels()).toEqual([["__name__", "b"]]);
    expect(kernel.remoteWriteResolve(6, 0, 1)).toBe(STATUS_OK);
    expect(kernel.remoteWriteStep()).toBe(STATUS_DONE);
    expect([kernel.stagedBytes(0), kernel.stagedBytes(1), kernel.stagedRows()]).toEqual([ROW_BYTES, 2 * ROW_BYTES, 3]);
    expect(kernel.remoteWriteStep()).toBe(STATUS_DONE);
  });

  it("skips a series and says how many samples that costs", () => {
    begin(encodeBody([seriesOf("a", 3), seriesOf("b", 2)]));
    kernel.remoteWriteStep();
    expect(kernel.remoteWriteSkipSeries()).toBe(3);
    expect(kernel.remoteWriteStep()).toBe(STATUS_UNKNOWN_STREAM);
    expect(harness.unknownLabels()).toEqual([["__name__", "b"]]);
    expect(kernel.remoteWriteSkipSeries()).toBe(2);
    expect([kernel.remoteWriteStep(), kernel.stagedRows(), kernel.keyTableEntries(), kernel.remoteWriteSkipSeries()]).toEqual([
      STATUS_DONE,
      0,
      0,
      0,
    ]);
  });

  it("stops in a series when the rows are full, and goes on with another base although other streams were looked up between", () => {
    begin(encodeBody([seriesOf("a", 5)]), 3);
    kernel.remoteWriteStep();
    kernel.remoteWriteResolve(9, 1, 0);
    expect([kernel.remoteWriteStep(), kernel.stagedRows(), kernel.remoteWriteStep()]).toEqual([STATUS_ROWS_FULL, 3, STATUS_ROWS_FULL]);
    kernel.stagingReset(ENGINES);
    kernel.keyLookup(DECOMPRESSED, 3, 1);
    kernel.keyInsert(77, 0, 0);
    kernel.remoteWriteRebase(BASE_MS - 1000);
    expect([kernel.remoteWriteStep(), kernel.stagedBytes(0), kernel.stagedBytes(1)]).toEqual([STATUS_DONE, 0, 2 * ROW_BYTES]);
    const rows = STAGING + STAGING_BYTES;
    expect([harness.loaded.view.getUint32(rows, true), harness.loaded.view.getUint32(rows + ROW_OFFSET, true)]).toEqual([9, 1003]);
  });

  it("stops before a reject that has no room", () => {
    const room = REJECTS_BYTES / REJECT_BYTES;
    begin(encodeBody([seriesOf("a", room + 2, BASE_MS - 2 * room)]));
    kernel.remoteWriteStep();
    kernel.remoteWriteResolve(1, 0, 0);
    expect([kernel.remoteWriteStep(), kernel.rejectsCount(), kernel.remoteWriteStep()]).toEqual([
      STATUS_REJECTS_FULL,
      room,
      STATUS_REJECTS_FULL,
    ]);
    kernel.rejectsReset();
    expect([kernel.remoteWriteStep(), kernel.rejectsCount(), kernel.stagedRows()]).toEqual([STATUS_DONE, 2, 0]);
  });

  it("rejects times outside the window, and keeps stale markers and what is not finite", () => {
    const samples = [
      { value: 1, time: BASE_MS - 1 },
      { value: 1, time: BASE_MS },
      { value: Infinity, time: BASE_MS },
      { value: -Infinity, time: BASE_MS },
      { value: Number.NaN, time: BASE_MS },
      { value: 1, time: BASE_MS + WINDOW_MS },
      { value: 1, time: BASE_MS + WINDOW_MS + 1 },
      { value: 1, time: -5 },
    ];
    const stale = bytesField(2, [9, 2, 0, 0, 0, 0, 0, 0xf0, 0x7f, ...varintField(2, BASE_MS + 7)]);
    const body = Uint8Array.from(bytesField(1, [...labelField("__name__", "a"), ...samples.flatMap(sampleField), ...stale]));
    const { staged } = harness.ingest(body);
    expect(staged.map(({ time, code }) => [time - BASE_MS, code])).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [WINDOW_MS, 0],
      [7, 0],
      [-1, REJECT_TOO_OLD],
      [WINDOW_MS + 1, REJECT_IN_FUTURE],
      [-5 - BASE_MS, REJECT_TOO_OLD],
    ]);
    expect(kernel.remoteWriteUnobserved()).toBe(3);
    expect(staged.slice(1, 4).map(({ bits }) => bits)).toEqual([0x7ff0000000000000n, 0xfff0000000000000n, 0x7ff8000000000001n]);
    expect(staged[5]?.bits).toBe(0x7ff0000000000002n);
    expect(new Set(staged.map(({ stream }) => stream))).toEqual(new Set(['[["__name__","a"]]']));
  });

  it("answers BAD_LABELS for samples without labels, and passes over series without samples", () => {
    const body = Uint8Array.from([
      ...bytesField(1, labelField("__name__", "no samples")),
      ...bytesField(1, []),
      ...bytesField(1, sampleField({ value: 1, time: BASE_MS })),
      ...bytesField(1, [...labelField("__name__", "only a histogram"), ...bytesField(4, [])]),
    ]);
    expect(harness.ingest(body)).toMatchObject({ begun: 1, statuses: [STATUS_BAD_LABELS, STATUS_DONE], skippedSamples: 1 });
    expect(kernel.histogramCount()).toBe(1);
  });

  it("answers BAD_LABELS for scattered labels that are too long together, but takes long ones in one piece", () => {
    const long = labelField("__name__", "x".repeat(600_000));
    const sample = sampleField({ value: 1, time: BASE_MS });
    expect(harness.ingest(Uint8Array.from(bytesField(1, [...sample, ...long]))).statuses).toEqual([STATUS_BAD_LABELS, STATUS_DONE]);
    expect(harness.ingest(Uint8Array.from(bytesField(1, [...long, ...sample]))).statuses).toEqual([STATUS_UNKNOWN_STREAM, STATUS_DONE]);
  });

  it("stages nothing of a body that is damaged at its end", () => {
    const body = encodeBody([seriesOf("a", 50), seriesOf("b", 1)]);
    expect(begin(body.slice(0, -1))).toBe(STATUS_BAD_PROTOBUF);
    expect([kernel.remoteWriteStep(), kernel.stagedRows(), kernel.keyTableEntries()]).toEqual([STATUS_DONE, 0, 0]);
    expect([begin(new Uint8Array()), kernel.remoteWriteStep()]).toEqual([0, STATUS_DONE]);
  });

  it("takes a body of more series than its index holds", () => {
    const count = (SERIES_INDEX_BYTES / 32) * 2 + 1000;
    const one = Uint8Array.from(bytesField(1, [...labelField("__name__", "a"), ...sampleField({ value: 0, time: BASE_MS })]));
    const histogram = bytesField(1, bytesField(4, []));
    const body = new Uint8Array(one.length * count + histogram.length);
    for (let i = 0; i < count; i++) {
      body.set(one, i * one.length);
      body[i * one.length + 11] = 97 + (i % 5);
    }
    body.set(histogram, one.length * count);
    const { begun, staged } = harness.ingest(body, { maxRows: 20_000 });
    expect([begun, staged.length, kernel.histogramCount()]).toEqual([count, count, 1]);
  });
});

describe("staging", () => {
  it("takes single rows until a destination is full", () => {
    for (let i = 0; i < STAGING_BYTES / ROW_BYTES; i++) expect(kernel.stageRow(1, i, i, i)).toBe(STATUS_OK);
    expect(kernel.stageRow(1, 0, 0, 0)).toBe(STATUS_ROWS_FULL);
    expect(kernel.stageRow(0, 4, 5, -0.5)).toBe(STATUS_OK);
    expect([kernel.stagedBytes(0), kernel.stagedBytes(1), kernel.stagedRows()]).toEqual([
      ROW_BYTES,
      STAGING_BYTES,
      STAGING_BYTES / ROW_BYTES + 1,
    ]);
    expect([
      ...new Uint32Array(harness.loaded.memory.buffer, STAGING, 2),
      new Float64Array(harness.loaded.memory.buffer, STAGING + 8, 1)[0],
    ]).toEqual([4, 5, -0.5]);
    kernel.stagingReset(ENGINES);
    expect([kernel.stagedBytes(1), kernel.stagedRows()]).toEqual([0, 0]);
  });
});
