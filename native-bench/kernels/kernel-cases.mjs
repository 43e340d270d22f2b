// The cases of kernels.mjs. A case is {name, unit, prepare}: `prepare` makes the input, checks that all contestants give the same, and returns
// {units, contestants}: units of one run, and functions by name, the kernel first. To add one, write a function below and a line here.
import assert from "node:assert/strict";
import { crc32 } from "../../src/core/hashing/crc32.ts";
import { hash128 } from "../../src/core/hashing/hash128.ts";
import { STATUS_DONE, STATUS_UNKNOWN_STREAM } from "../../src/core/layout/kernel-status.ts";
import { DECOMPRESSED, LARGE_BODY, SCRATCH, STAGING, STAGING_BYTES } from "../../src/core/layout/memory-map.ts";
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../src/core/layout/row-frame.ts";
import { fillPowersOfFive } from "../../src/domain/kernel/powers-of-five.ts";
import { BASE_MS, IngestHarness, WINDOW_MS } from "../../test/support/ingest-harness.ts";
import { OTLP_NOW_MS, OtlpRig } from "../../test/support/otlp-rig.ts";
import { decodeMessage } from "../../test/support/otlp-schema.ts";
import { decodeBody2, encodeBody2 } from "../../test/support/remote-write-2-body.ts";
import { decodeBody } from "../../test/support/remote-write-body.ts";
import { strictDecode } from "../../test/support/remote-write-decoder.ts";
import { packRowsSlowly } from "../../test/support/row-packing.ts";
import { jsonBatches } from "../bodies/json-records.mjs";
import { encodeMetrics, otlpMetricsRequest } from "../bodies/otlp-metrics.mjs";
import { remoteWriteBodies } from "../bodies/remote-write.mjs";
import { seededRandom } from "../bodies/series-labels.mjs";
import { importOfTests } from "../test-packages.mjs";
import { chunkCase, windowCase } from "./shard-cases.mjs";
import { spanCase } from "./span-cases.mjs";

const { default: snappy } = await importOfTests("snappy");

const samplesPerBody = 2_000;
const tenant = 1;

/** @type {Array<{name: string, unit: string, prepare: () => Promise<{units: number, contestants: Record<string, () => unknown>}>}>} */
export const KERNEL_CASES = [
  { name: "snappy", unit: "byte out", prepare: snappyCase },
  { name: "remote-write", unit: "sample", prepare: remoteWriteCase },
  { name: "remote-write-2", unit: "sample", prepare: remoteWrite2Case },
  { name: "otlp-metrics", unit: "point", prepare: otlpMetricsCase },
  { name: "otlp-metrics-json", unit: "point", prepare: otlpMetricsJsonCase },
  { name: "identity-hash", unit: "byte", prepare: identityHashCase },
  { name: "window", unit: "sample", prepare: windowCase },
  { name: "chunk", unit: "sample", prepare: chunkCase },
  { name: "row-pack", unit: "row", prepare: rowPackCase },
  { name: "crc32", unit: "byte", prepare: crcCase },
  { name: "json-depth", unit: "byte", prepare: jsonDepthCase },
  { name: "json-records", unit: "record", prepare: jsonRecordsCase },
  { name: "spans", unit: "span", prepare: spanCase },
];

/** One remote-write body of 2,000 series with a sample each, as it is sent. */
async function compressedBody() {
  const [{ bytes }] = remoteWriteBodies({
    series: samplesPerBody,
    perRequest: samplesPerBody,
    samples: samplesPerBody,
    endMs: BASE_MS + 1_000_000,
  });
  return bytes;
}

async function snappyCase() {
  const { kernel, loaded, place } = decoderHarness();
  const compressed = await compressedBody();
  place(LARGE_BODY, compressed);
  const decompress = () => kernel.snappyDecompress(LARGE_BODY, compressed.length, DECOMPRESSED, compressed.length * 100);
  const expected = snappy.uncompressSync(compressed);
  const units = decompress();
  assert.deepEqual(Buffer.from(loaded.bytes.slice(DECOMPRESSED, DECOMPRESSED + units)), expected);
  return { units, contestants: { kernel: decompress, "npm snappy": () => snappy.uncompressSync(compressed) } };
}

async function remoteWriteCase() {
  const harness = decoderHarness();
  const { kernel } = harness;
  const body = new Uint8Array(snappy.uncompressSync(await compressedBody()));
  const { staged } = harness.ingest(body);
  const read = decodeBody(body).flatMap(({ labels, samples }) => samples.map(({ time }) => ({ stream: JSON.stringify(labels), time })));
  assert.deepEqual(
    staged.map(({ stream, time }) => `${stream} ${time}`).sort(),
    read.map(({ stream, time }) => `${stream} ${time}`).sort(),
  );
  const walk = () => {
    kernel.stagingReset(2);
    kernel.remoteWriteBegin(DECOMPRESSED, body.length, tenant, BASE_MS, BASE_MS, BASE_MS + WINDOW_MS, STAGING_BYTES / ROW_BYTES);
    const status = kernel.remoteWriteStep();
    if (status !== STATUS_DONE) throw new Error(`the walk stopped with ${status}`);
    return kernel.stagedRows();
  };
  assert.equal(walk(), samplesPerBody);
  return {
    units: samplesPerBody,
    contestants: { kernel: walk, protobufjs: () => decodeBody(body), "strict decoder in TypeScript": () => strictDecode(body) },
  };
}

/** The same samples in both protocols, each series of 2.0 with its metadata, as Prometheus 3 sends them; compressed, as they come. */
async function remoteWrite2Case() {
  const harness = decoderHarness();
  const { kernel, place } = harness;
  const first = new Uint8Array(snappy.uncompressSync(await compressedBody()));
  const metadata = (metric) => ({ type: 1 + (metric.length % 2), help: `Help of ${metric}, a sentence or two.`, unit: "" });
  const second = encodeBody2(decodeBody(first).map((series) => ({ ...series, metadata: metadata(series.labels[0][1]) })));
  const compressed = [snappy.compressSync(Buffer.from(first)), snappy.compressSync(Buffer.from(second))];
  const at = [LARGE_BODY, LARGE_BODY + 0x400000];
  compressed.forEach((bytes, i) => place(at[i], bytes));
  for (const [i, body] of [first, second].entries()) assert.equal(harness.ingest(body, { version: i + 1 }).staged.length, samplesPerBody);
  const take = (i, begin) => () => {
    const bytes = kernel.snappyDecompress(at[i], compressed[i].length, DECOMPRESSED, 64 * 1024 * 1024);
    return walk(begin, bytes);
  };
  const walk = (begin, bytes) => {
    kernel.stagingReset(2);
    begin(DECOMPRESSED, bytes, tenant, BASE_MS, BASE_MS, BASE_MS + WINDOW_MS, STAGING_BYTES / ROW_BYTES);
    const status = kernel.remoteWriteStep();
    if (status !== STATUS_DONE) throw new Error(`the walk stopped with ${status}`);
    return kernel.stagedRows();
  };
  assert.equal(take(0, kernel.remoteWriteBegin)(), samplesPerBody);
  assert.equal(take(1, kernel.remoteWrite2Begin)(), samplesPerBody);
  // The walk alone reads the body where the last decompression left it.
  const walkAlone = () => walk(kernel.remoteWrite2Begin, second.length);
  console.error(
    `remote-write-2: ${compressed.map(({ length }) => shownBytes(length)).join(" and ")} a sample compressed, ${shownBytes(first.length)} and ${shownBytes(second.length)} not`,
  );
  return {
    units: samplesPerBody,
    contestants: {
      kernel: take(1, kernel.remoteWrite2Begin),
      "kernel, walk alone": walkAlone,
      "kernel, the same in 1.0": take(0, kernel.remoteWriteBegin),
      "protobufjs, walk alone": () => decodeBody2(second),
    },
  };
}

const shownBytes = (bytes) => `${(bytes / samplesPerBody).toFixed(0)} B`;
const pointsPerBody = 10_000;

/** A protobuf body whose streams are known: check, walk and rows, against decoding it with protobufjs alone. */
async function otlpMetricsCase() {
  const rig = new OtlpRig();
  const { kernel, memory } = rig;
  const body = encodeMetrics(otlpMetricsRequest({ points: pointsPerBody, timeMs: OTLP_NOW_MS }));
  const { answer, rows } = rig.take(body, "metrics", "protobuf");
  assert.deepEqual(answer, { status: 200, body: null });
  assert.equal(rows.filter((row) => !row.includes(" start ")).length, pointsPerBody);
  memory.bytes.set(body, LARGE_BODY);
  const day = 24 * 3600 * 1000;
  const walk = () => {
    kernel.stagingReset(2);
    kernel.otlpMetricsBegin(
      LARGE_BODY,
      body.length,
      0,
      0, // tenant
      OTLP_NOW_MS - day,
      OTLP_NOW_MS - day,
      OTLP_NOW_MS,
      OTLP_NOW_MS,
      1,
      2 * pointsPerBody,
    );
    const status = kernel.otlpMetricsStep();
    if (status !== STATUS_DONE) throw new Error(`the walk stopped with ${status}`);
    return kernel.stagedRows();
  };
  assert.equal(walk(), pointsPerBody);
  return { units: pointsPerBody, contestants: { kernel: walk, protobufjs: () => decodeMessage("metrics", body) } };
}

/** The same points in JSON, decoded and staged, against JSON.parse alone. */
async function otlpMetricsJsonCase() {
  const rig = new OtlpRig();
  const body = Buffer.from(JSON.stringify(otlpMetricsRequest({ points: pointsPerBody, timeMs: OTLP_NOW_MS })));
  const take = () => rig.take(body, "metrics", "json", { quiet: true });
  assert.deepEqual(rig.take(body, "metrics", "json").answer, { status: 200, body: null });
  return { units: pointsPerBody, contestants: { decoder: take, "string and JSON.parse": () => JSON.parse(body.toString()) } };
}

/** The twin has another hash function; what both must be is the same again for the same bytes. */
async function identityHashCase() {
  const { kernel, loaded, place } = decoderHarness();
  const text = JSON.stringify([
    "default",
    "production",
    "checkout-service-0001",
    "queue_depth_04",
    Array.from({ length: 12 }, (_, i) => `label-${i}=value`),
  ]);
  const bytes = new TextEncoder().encode(text);
  place(SCRATCH, bytes);
  const hash = () => kernel.identityHash(SCRATCH, bytes.length);
  const hex = () => Buffer.from(loaded.bytes.slice(hash(), hash() + 16)).toString("hex");
  assert.equal(hex(), hex());
  return { units: bytes.length, contestants: { kernel: hash, "MurmurHash3 x86_128 in TypeScript": () => hash128(text) } };
}

async function rowPackCase() {
  const { kernel, loaded } = decoderHarness();
  const random = seededRandom(5);
  const rows = Array.from({ length: samplesPerBody }, (_, ref) => ({ ref, offset: 90_000_000, bits: bitsOf(random() * 1000) }));
  for (const [i, { ref, offset, bits }] of rows.entries()) {
    loaded.view.setUint32(STAGING + i * ROW_BYTES + ROW_REF, ref, true);
    loaded.view.setUint32(STAGING + i * ROW_BYTES + ROW_OFFSET, offset, true);
    loaded.view.setBigUint64(STAGING + i * ROW_BYTES + ROW_VALUE, bits, true);
  }
  const pack = () => kernel.packRows(STAGING, rows.length, LARGE_BODY);
  const bytes = pack();
  assert.deepEqual(loaded.bytes.slice(LARGE_BODY, LARGE_BODY + bytes), packRowsSlowly(rows));
  return { units: rows.length, contestants: { kernel: pack, TypeScript: () => packRowsSlowly(rows) } };
}

async function crcCase() {
  const random = seededRandom(6);
  const bytes = Uint8Array.from({ length: 64 * 1024 }, () => random() * 256);
  assert.equal(crc32(bytes), crc32Slowly(bytes));
  return { units: bytes.length, contestants: { zlib: () => crc32(bytes), "table in JavaScript": () => crc32Slowly(bytes) } };
}

async function jsonDepthCase() {
  const { kernel, place } = decoderHarness();
  const [{ bytes }] = jsonBatches({ records: 1000, series: 1000, endMs: BASE_MS });
  place(LARGE_BODY, bytes);
  const depth = () => kernel.jsonDepth(LARGE_BODY, bytes.length);
  assert.equal(depth(), depthOf(JSON.parse(bytes.toString())));
  return { units: bytes.length, contestants: { kernel: depth, "string and JSON.parse": () => JSON.parse(bytes.toString()) } };
}

/** A batch whose streams are known: what the kernel stages against what JSON.parse alone takes. */
async function jsonRecordsCase() {
  const { kernel, loaded, place } = decoderHarness();
  fillPowersOfFive(loaded.view);
  const count = 1_000;
  const [{ bytes }] = jsonBatches({ records: count, series: count, endMs: BASE_MS + 1_000_000 });
  place(LARGE_BODY, bytes);
  const step = () => {
    kernel.stagingReset(1);
    const begun = kernel.jsonRecordsBegin(LARGE_BODY, bytes.length, 1, tenant, BASE_MS, BASE_MS, BASE_MS + WINDOW_MS, count, 64);
    if (begun !== count) throw new Error(`the kernel took the body for ${begun} records`);
    return kernel.jsonRecordsStep();
  };
  let status = step();
  for (let ref = 0; status === STATUS_UNKNOWN_STREAM; status = kernel.jsonRecordsStep()) kernel.keyInsert(ref++, 0, 0);
  assert.equal(step(), STATUS_DONE);
  const records = JSON.parse(bytes.toString());
  const staged = records.map((_, i) => loaded.view.getFloat64(STAGING + i * ROW_BYTES + ROW_VALUE, true));
  assert.deepEqual(
    staged,
    records.map(({ value }) => value),
  );
  return { units: count, contestants: { kernel: step, "string and JSON.parse": () => JSON.parse(bytes.toString()) } };
}

function decoderHarness() {
  const harness = new IngestHarness();
  return Object.assign(harness, { place: harness.place.bind(harness) });
}

function bitsOf(value) {
  return new BigUint64Array(Float64Array.of(value).buffer)[0];
}

const crcTable = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function crc32Slowly(bytes) {
  let crc = -1;
  for (let i = 0; i < bytes.length; i++) crc = crcTable[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

function depthOf(value) {
  return typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
}
