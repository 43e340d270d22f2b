// The pass over services within one engine, over streams that a test makes up: which metrics make a vector, and when an alert of a service is over.
import { describe, expect, it } from "vitest";
import { ServicesDetector } from "../../../../../src/actors/engine/watchdog/passes/services-pass.ts";
import { SERVICE_METRICS_MAX, SERVICE_VALUE_AGE_MS_MAX } from "../../../../../src/core/config/limits.ts";
import { ShareLedger } from "../../../../../src/core/fairness/share-ledger.ts";
import { FLAG_BUCKET, PROFILE_EXCLUDED } from "../../../../../src/core/layout/stream-record.ts";
import {
  DETECTOR_SERVICE_MODELS,
  DETECTOR_SERVICES,
  type EpisodeFrame,
  type StatesPage,
} from "../../../../../src/core/protocol/coordinator-frame.ts";
import type { ServiceWanting } from "../../../../../src/core/protocol/engine-control.ts";
import { seededRandom } from "../../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { trainService } from "../../../../../src/domain/detection/multivariate/service-training.ts";
import type { StreamRecords } from "../../../../../src/domain/kernel/stream-records.ts";

const START = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const KEY = '["default","shop"]';
const FACTORS = [4, -2, 3, 1];

interface FakeStream {
  metricName: string;
  flags: number;
  profile: number;
  timeMs: number;
  value: number;
  /** Times between the values of its ring. */
  gaps: readonly number[];
}

class Rig {
  readonly streams: FakeStream[] = [];
  readonly frames: EpisodeFrame[] = [];
  readonly stored: Array<StatesPage & { readonly bytes: number }> = [];
  readonly pass: ServicesDetector;
  nowMs = START;

  constructor() {
    const at = (slot: number) => this.streams[slot] as FakeStream;
    const records: Partial<StreamRecords> = {
      flags: (slot) => at(slot).flags,
      identityAddress: (slot) => slot,
      profile: (slot) => at(slot).profile,
      partition: () => 3,
      count: () => 120,
      lastTimeMs: (slot) => at(slot).timeMs,
      lastValue: (slot) => at(slot).value,
      firstTimeMs: () => START - 600 * MINUTE_MS,
      readRing: (slot, times) => {
        const { gaps } = at(slot);
        gaps.reduce((time, gap, i) => {
          times[i] = time + gap;
          return time + gap;
        }, 0);
        return gaps.length;
      },
    };
    this.pass = new ServicesDetector(
      { intervalMs: MINUTE_MS },
      {
        records: records as StreamRecords,
        shares: ShareLedger.alone(10),
        nameOf: (slot) => ({ tenant: "default", environment: "", serviceId: "shop", metricName: at(slot).metricName, attributes: {} }),
        hashOf: (slot) => new Uint8Array(16).fill(slot),
        partition: () => {
          throw new Error("no history is asked for");
        },
        hashText: (text) => text,
        send: (frame) => void this.frames.push(frame),
        store: (page, bytes) => void this.stored.push({ ...page, bytes: bytes.length }),
        publish: () => undefined,
      },
    );
  }

  add(metricName: string, change: Partial<FakeStream> = {}): void {
    this.streams.push({ metricName, flags: 0, profile: 0, timeMs: this.nowMs, value: 1, gaps: new Array(20).fill(MINUTE_MS), ...change });
  }

  /** A cycle over the service's streams, none where they are gone; what it counted. */
  cycle(isThere = true) {
    this.pass.begin(this.nowMs);
    const slots = this.streams.map((_, slot) => slot);
    for (let next = 0; isThere && next < slots.length; ) next = this.pass.visit(KEY, slots, next);
    this.pass.end();
    this.nowMs += MINUTE_MS;
    return { ...this.pass.takeCounts(), wanting: (this.pass.takeFound()?.services ?? []) as readonly ServiceWanting[] };
  }

  /** Sets the metrics' values at the time of the next cycle. */
  send(values: readonly number[]): void {
    for (const [slot, value] of values.entries()) Object.assign(this.streams[slot] as FakeStream, { timeMs: this.nowMs, value });
  }
}

/** Values that follow one load; `isBroken`: the third follows the opposite. */
function shop(): (isBroken?: boolean) => number[] {
  const random = seededRandom(3);
  let load = 0;
  return (isBroken = false) => {
    load = 0.9 * load + random() - 0.5;
    const at = isBroken ? Math.sign(load) * Math.max(1, Math.abs(load)) : load;
    return FACTORS.map((factor, j) => 50 + (isBroken && j === 2 ? -1 : 1) * factor * at + 0.05 * (random() - 0.5));
  };
}

/** A service that is judged by a model of 400 minutes. */
function judged(): { rig: Rig; next: (isBroken?: boolean) => number[] } {
  const rig = new Rig();
  const next = shop();
  const history = Array.from({ length: 400 }, () => next());
  const times = Float64Array.from(history, (_, i) => START - (400 - i) * MINUTE_MS);
  for (const j of FACTORS.keys()) rig.add(`m${j}`);
  const [wanted] = rig.cycle().wanting;
  const { model, state, rows } = trainService({
    streams: FACTORS.map((_, j) => ({ times, values: Float64Array.from(history, (row) => row[j] as number) })),
    starts: Uint16Array.of(0, 1, 2, 3, 4),
    aggregations: Uint8Array.of(1, 1, 1, 1),
    toMs: START,
    intervalMs: MINUTE_MS,
    rowsMax: 1000,
    seed: 1,
  });
  const { key, environment, columns } = wanted as ServiceWanting;
  const due = { trainedMs: START, dueMs: Number.MAX_SAFE_INTEGER, sampleMs: 0, rows, promoted: null };
  rig.pass.take({ type: "service-model", key, environment, columns, model, state, ...due });
  return { rig, next };
}

function firing(): ReturnType<typeof judged> {
  const { rig, next } = judged();
  for (let i = 0; i < 30; i++) {
    rig.send(next());
    rig.cycle();
  }
  for (let i = 0; i < 4; i++) {
    rig.send(next(true));
    rig.cycle();
  }
  expect(rig.frames.map(({ transition }) => transition)).toEqual(["open"]);
  return { rig, next };
}

describe("the metrics of a vector", () => {
  it("are all, without buckets of histograms and what is excluded; one alone makes none", () => {
    const rig = new Rig();
    rig.add("b");
    rig.add("requests_bucket", { flags: FLAG_BUCKET });
    expect(rig.cycle()).toMatchObject({ skipped: { too_few_metrics: 1 }, wanting: [] });
    rig.add("a");
    (rig.streams[0] as FakeStream).profile = PROFILE_EXCLUDED;
    expect(rig.cycle()).toMatchObject({ skipped: { too_few_metrics: 1 }, wanting: [] });
    (rig.streams[0] as FakeStream).profile = 0;
    expect(rig.cycle()).toMatchObject({ learning: 1, wanting: [{ wants: "stored", partition: 3 }] });
  });

  it("are the most regular ones where there are more than 64", () => {
    const rig = new Rig();
    // Six of them come and go, the first by name among them.
    const uneven = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 1 : 9) * MINUTE_MS);
    for (let i = 0; i < SERVICE_METRICS_MAX + 6; i++) rig.add(`m${String(i).padStart(2, "0")}`, i < 6 ? { gaps: uneven } : {});
    const first = rig.cycle();
    expect(first.skipped).toEqual({ metrics_left_out: 6 });
    const other = new Rig();
    for (let i = 6; i < SERVICE_METRICS_MAX + 6; i++) other.add(`m${String(i).padStart(2, "0")}`);
    expect(other.cycle().wanting[0]?.columns).toBe(first.wanting[0]?.columns);
  });

  it("are asked for again where nothing has come for ten cycles, and not before", () => {
    const rig = new Rig();
    rig.add("a");
    rig.add("b");
    const asked = Array.from({ length: 22 }, () => rig.cycle().wanting.length);
    expect(asked.flatMap((count, cycle) => (count > 0 ? [cycle] : []))).toEqual([0, 10, 20]);
  });
});

describe("an alert of a service", () => {
  it("opens, is stored at once, and ends once the relation is back", () => {
    const { rig, next } = firing();
    expect(rig.frames[0]).toMatchObject({ metricName: "service.multivariate", detector: "isolation_forest", direction: "high" });
    expect(rig.stored.filter(({ detector }) => detector === DETECTOR_SERVICES).length).toBeGreaterThan(0);
    for (let i = 0; i < 15; i++) {
      rig.send(next());
      rig.cycle();
    }
    expect(rig.frames.at(-1)).toMatchObject({ transition: "close", episodeId: rig.frames[0]?.episodeId });
  });

  it("goes on while nothing is heard, and judges nothing twice", () => {
    const { rig, next } = firing();
    const counts = Array.from({ length: 30 }, () => rig.cycle());
    expect(counts.every(({ evaluated, skipped }) => evaluated === 0 && skipped.no_new_values === 1)).toBe(true);
    expect(rig.frames).toHaveLength(1);
    for (let i = 0; i < 15; i++) {
      rig.send(next());
      rig.cycle();
    }
    expect(rig.frames.at(-1)).toMatchObject({ transition: "close", episodeId: rig.frames[0]?.episodeId });
  });

  it("ends with the service's last stream, and what was stored of it goes", () => {
    const { rig } = firing();
    rig.stored.length = 0;
    rig.cycle(false);
    expect(rig.frames.at(-1)).toMatchObject({ transition: "end" });
    expect(rig.stored).toMatchObject([
      { detector: DETECTOR_SERVICES, partition: 3, bytes: 0 },
      { detector: DETECTOR_SERVICE_MODELS, partition: 3, bytes: 0 },
    ]);
  });
});

describe("a metric that is missing", () => {
  it("is no part of what is found, and half of them are needed", () => {
    const { rig, next } = judged();
    for (const slot of [2, 3]) (rig.streams[slot] as FakeStream).timeMs = START - SERVICE_VALUE_AGE_MS_MAX;
    for (let i = 0; i < 20; i++) {
      rig.send(next().slice(0, 2));
      rig.cycle();
    }
    expect(rig.frames).toEqual([]);
    rig.send(next());
    for (let i = 0; i < 7; i++) rig.cycle();
    rig.send(next().slice(0, 1));
    expect(rig.cycle()).toMatchObject({ evaluated: 0, skipped: { too_few_values: 1 } });
  });
});

it("tells what became of a service in the last cycle", () => {
  const rig = new Rig();
  expect(rig.pass.serviceStates(KEY, null)).toEqual(["not_visited_yet"]);
  rig.add("a");
  rig.cycle();
  expect([rig.pass.serviceStates(KEY, null), rig.pass.serviceStates(KEY, "")]).toEqual([["too_few_metrics"], ["too_few_metrics"]]);
  rig.add("b");
  rig.cycle();
  expect([rig.pass.serviceStates(KEY, null), rig.pass.serviceStates(KEY, "staging")]).toEqual([["learning"], ["too_few_metrics"]]);
});
