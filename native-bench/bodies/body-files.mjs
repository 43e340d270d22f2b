// Files of request bodies for the sender: a run of [u32le shard][u32le samples][u32le length][bytes]. Each is written once a run, when first
// asked for; its times end a minute before that, so that no server refuses them as too old or too new.
import { createHash } from "node:crypto";
import { closeSync, fdatasync, fsyncSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { jsonBatches, jsonSingles } from "./json-records.mjs";
import { mappedServiceBodies } from "./mapped-services.mjs";
import { otlpLogBodies } from "./otlp-logs.mjs";
import { otlpMetricsBodies, otlpMetricsJsonBodies } from "./otlp-metrics.mjs";
import { otlpTraceBodies } from "./otlp-traces.mjs";
import { plantedBodies } from "./planted.mjs";
import { refusedRecords } from "./refused-records.mjs";
import { newStreamBodies, remoteWriteBodies } from "./remote-write.mjs";
import { watchedHistory } from "./watched-services.mjs";

const headBytes = 12;
const chunkBytes = 4 * 1024 * 1024;
/** Written since the last sync: the disk works while bodies are made, not after them. */
const unsyncedBytesMax = 64 * 1024 * 1024;
const sync = promisify(fdatasync);
/** Bodies that are still being made: enough for every thread of the pool to have its next one. */
const waitingMax = 16;
/** A file this old is written again: Prometheus takes what is up to an hour behind the newest, the other limits are wider. */
const ageMsMax = 3600 * 1000;
const endBeforeNowMs = 60_000;

/** Name, generator and what it takes unless asked for otherwise. A to D are the shapes of the peers' measurements. */
const SHAPES = {
  "remote-write": { make: remoteWriteBodies, options: { series: 10_000, perRequest: 2000, samples: 1_000_000 } },
  A: { make: remoteWriteBodies, options: { series: 10_000, perRequest: 2000, samples: 19_000_000 } },
  B: { make: remoteWriteBodies, options: { series: 100_000, perRequest: 2000, samples: 16_000_000 } },
  C: { make: remoteWriteBodies, options: { series: 10_000, perRequest: 1000, samplesPerSeries: 10, samples: 40_000_000 } },
  D: { make: remoteWriteBodies, options: { series: 10_000, perRequest: 2000, samples: 4_000_000, values: "walk" } },
  "new-streams": { make: newStreamBodies, options: { requests: 400, perRequest: 2000 } },
  "mapped-services": { make: mappedServiceBodies, options: { services: 100_000 } },
  "refused-records": { make: refusedRecords, options: { records: 1_000_000 } },
  "watched-services": { make: watchedHistory, options: { services: 5_000 } },
  planted: { make: plantedBodies, options: {} },
  "json-batches": { make: jsonBatches, options: { records: 3_000_000 } },
  "otlp-metrics": { make: otlpMetricsBodies, options: { points: 11_000_000 } },
  "otlp-metrics-json": { make: otlpMetricsJsonBodies, options: { points: 1_800_000 } },
  "otlp-logs": { make: otlpLogBodies, options: { logs: 1_000_000 } },
  "otlp-traces": { make: otlpTraceBodies, options: { spans: 2_200_000 } },
  "json-singles": { make: jsonSingles, options: { records: 600_000 } },
};

/** Where bodies come from: `get(shape, options)` resolves with the path of their file; `takeSeconds()` is how long making them took since it was asked last. */
export function makeBodies(/** @type {string} */ folder, /** @type {(text: string) => void} */ log) {
  mkdirSync(folder, { recursive: true });
  let spentSeconds = 0;
  return {
    takeSeconds: () => {
      const seconds = spentSeconds;
      spentSeconds = 0;
      return seconds;
    },
    get: async (/** @type {string} */ shape, options = {}) => {
      const { make, options: defaults } = SHAPES[shape];
      const asked = { ...defaults, ...options };
      const digest = createHash("sha1").update(JSON.stringify(asked)).digest("hex").slice(0, 8);
      const path = join(folder, `${shape}-${digest}.bin`);
      const ageMs = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      if (ageMs < ageMsMax) return path;
      const startMs = performance.now();
      const endMs = Math.floor((Date.now() - endBeforeNowMs) / 1000) * 1000;
      const { bodies, bytes } = await writeBodies(path, make({ endMs, ...asked }));
      const seconds = (performance.now() - startMs) / 1000;
      spentSeconds += seconds;
      log(`bodies of shape ${shape}: ${bodies} in ${(bytes / 2 ** 20).toFixed(0)} MiB, ${seconds.toFixed(1)} s`);
      return path;
    },
  };
}

/** Writes what the generator gives, {shard, samples, bytes} each, `bytes` or a promise of them; the file appears whole or not at all. */
export async function writeBodies(
  /** @type {string} */ path,
  /** @type {Iterable<{shard: number, samples: number, bytes: Uint8Array | Promise<Uint8Array>}>} */ bodies,
) {
  const partPath = `${path}.${process.pid}.part`;
  const file = openSync(partPath, "w");
  const total = { bodies: 0, bytes: 0 };
  let parts = [];
  let partBytes = 0;
  let unsyncedBytes = 0;
  let syncing;
  const flush = () => {
    writeSync(file, Buffer.concat(parts, partBytes));
    unsyncedBytes += partBytes;
    parts = [];
    partBytes = 0;
    if (unsyncedBytes < unsyncedBytesMax || syncing !== undefined) return;
    unsyncedBytes = 0;
    syncing = sync(file).finally(() => {
      syncing = undefined;
    });
    syncing.catch(() => undefined); // the last sync fails too
  };
  for await (const { shard, samples, bytes } of inOrder(bodies)) {
    const head = Buffer.alloc(headBytes);
    head.writeUInt32LE(shard, 0);
    head.writeUInt32LE(samples, 4);
    head.writeUInt32LE(bytes.length, 8);
    parts.push(head, bytes);
    partBytes += headBytes + bytes.length;
    total.bodies++;
    total.bytes += headBytes + bytes.length;
    if (partBytes >= chunkBytes) flush();
  }
  flush();
  await syncing;
  fsyncSync(file); // else the disk writes it out while a row is measured, and the server's log waits for the disk
  closeSync(file);
  renameSync(partPath, path);
  return total;
}

/** The bodies with their bytes, in their order, while those behind them are being made. */
async function* inOrder(bodies) {
  const waiting = [];
  for (const body of bodies) {
    waiting.push(body);
    if (waiting.length > waitingMax) yield finished(waiting.shift());
  }
  for (const body of waiting) yield finished(body);
}

async function finished({ bytes, ...rest }) {
  return { ...rest, bytes: await bytes };
}
