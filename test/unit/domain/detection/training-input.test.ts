// A training's input: what is read of the buffer is what was written, in this thread and in another, and nothing of it is copied on the way.
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { type TrainingJob, trainService } from "../../../../src/domain/detection/multivariate/service-training.ts";
import {
  readTrainingInput,
  type TrainingInput,
  TrainingInputWriter,
  writeTrainingInput,
} from "../../../../src/domain/detection/multivariate/training-input.ts";
import { sampleChunk } from "../../../support/sample-chunk.ts";

const MINUTE_MS = 60_000;
const TO_MS = 1_795_220_000_000;
const request = { toMs: TO_MS, intervalMs: MINUTE_MS, rowsMax: 1000, seed: 0xfedcba98 };

/** Two metrics of so many minutes. */
function jobOf(minutes: number): TrainingJob {
  const times = Float64Array.from({ length: minutes }, (_, i) => TO_MS - (minutes - i) * MINUTE_MS);
  const streams = [1, 2].map((factor) => ({ times, values: times.map((_, i) => Math.sin(i * factor) + (i % 7)) }));
  return { ...request, streams, starts: Uint16Array.of(0, 1, 2), aggregations: Uint8Array.of(1, 1) };
}

describe("a training's input", () => {
  it("gives back the job, as views of its buffer", () => {
    const job = jobOf(300);
    const input = writeTrainingInput(job);
    const read = readTrainingInput(input);
    expect(read).toEqual(job);
    for (const { times, values } of read.streams) expect([times.buffer, values.buffer]).toEqual([input.buffer, input.buffer]);
  });

  it("holds chunks as they were found, the newest first, each stream's own", () => {
    const chunks = [1, 2, 3].map((value) => sampleChunk(Float64Array.of(value), Float64Array.of(value)));
    const writer = new TrainingInputWriter({ streams: 2, samples: 1, metrics: 2 });
    const places = [1, 0, 1];
    for (const [i, chunk] of chunks.entries()) expect(writer.addChunk(places[i] as number, chunk)).toBe(true);
    const held = [{ times: Float64Array.of(9), values: Float64Array.of(8) }, { times: new Float64Array(0), values: new Float64Array(0) }]; // biome-ignore format: a list
    const input = writer.finish(held, { ...request, fromMs: 7, starts: Uint16Array.of(0, 1, 2), aggregations: Uint8Array.of(0, 0) });
    const { streams } = readTrainingInput(input);
    expect(streams.map(({ stored }) => stored)).toEqual([
      { chunks: [chunks[1]], fromMs: 7 },
      { chunks: [chunks[0], chunks[2]], fromMs: 7 },
    ]);
    expect(streams[0]?.stored?.chunks[0]?.buffer).toBe(input.buffer);
  });

  it("takes chunks as long as there is room, and ends whole where there is none", () => {
    const chunk = new Uint8Array(100).fill(7);
    const writer = new TrainingInputWriter({ streams: 64, samples: 64 * 120, metrics: 64 }, 10_000);
    let taken = 0;
    while (writer.addChunk(taken % 64, chunk)) taken++;
    expect(taken).toBeGreaterThan(10_000 / 140);
    const held = Array.from({ length: 64 }, () => ({ times: new Float64Array(120), values: new Float64Array(120).fill(3) }));
    const input = writer.finish(held, { ...request, fromMs: 0, starts: new Uint16Array(65), aggregations: new Uint8Array(64) });
    const { streams } = readTrainingInput(input);
    expect(streams.reduce((sum, { stored }) => sum + (stored?.chunks.length ?? 0), 0)).toBe(taken);
    expect(streams[63]?.values).toEqual(new Float64Array(120).fill(3));
  });

  it("is read by the thread that trains where it lies, and gives the same model", async () => {
    const job = jobOf(300);
    const input = writeTrainingInput(job);
    const worker = new URL("../../../../dist/actors/training/worker.js", import.meta.url).href;
    const code = `const { parentPort, workerData } = require("node:worker_threads");
      import(${JSON.stringify(worker)}).then(({ train }) => {
        const result = train(workerData);
        new Uint8Array(workerData.buffer)[0] = 77;
        parentPort.postMessage(result);
      });`;
    const result = await new Promise((resolve, reject) => {
      new Worker(code, { eval: true, workerData: input }).once("message", resolve).once("error", reject);
    });
    expect(result).toEqual(trainService(job));
    // The thread's memory is this memory.
    expect(new Uint8Array(input.buffer)[0]).toBe(77);
  });

  it("that is none is refused", () => {
    const input: TrainingInput = { buffer: new SharedArrayBuffer(64), at: 0 };
    expect(() => readTrainingInput(input)).toThrow("no TrainingInput");
  });
});
