// A coordinator over memory stores, with engines that hold what a test gives them and a clock that a test moves.

import { Coordinator } from "../../src/actors/coordinator/coordinator.ts";
import type { CoordinatorOptions } from "../../src/actors/coordinator/coordinator-options.ts";
import type { StepReport } from "../../src/actors/coordinator/loop/loop.ts";
import { CONTROL_TABLES, SERIES_TABLES } from "../../src/actors/coordinator/nouns/modules.ts";
import { NO_COUNTS } from "../../src/actors/engine/watchdog/cycle/engine-watchdog.ts";
import { hash128 } from "../../src/core/hashing/hash128.ts";
import { COORDINATOR_COUNTERS, COORDINATOR_SLOTS, type CoordinatorCounter } from "../../src/core/layout/counters.ts";
import {
  type DeadLetterEnvelope,
  type EngineFrame,
  type EpisodeFrame,
  episodeKind,
  FRAME_BLOCK,
  FRAME_CHECKPOINT,
  FRAME_CHECKPOINT_PART,
  FRAME_DEAD_LETTER,
  FRAME_LOG_MARK,
  FRAME_RECORD,
  FRAME_SERVICE_LABELS,
  type LogMark,
  type LogMarkFrame,
  type RecordEnvelope,
  type ServiceLabelsEnvelope,
  type TenantUsage,
} from "../../src/core/protocol/coordinator-frame.ts";
import type {
  EngineAnswer,
  EngineNotice,
  EngineQuery,
  ReturnedStreams,
  SeriesDataAnswer,
  SeriesSummary,
  ServiceHistoryAnswer,
} from "../../src/core/protocol/engine-control.ts";
import type { CoordinatorMessage, Principal, QueryAnswer } from "../../src/core/protocol/query.ts";
import type { ShareRow } from "../../src/core/protocol/shares.ts";
import { compareSeriesKeys, seriesKey } from "../../src/domain/series/series-order.ts";
import { canonicalAttributes } from "../../src/domain/series/stream-identity.ts";
import type { EngineLink } from "../../src/modules/engines/engine-link.ts";
import type { LogFloor } from "../../src/modules/state/log-coverage.ts";
import type { FaultKeeper, SetAsideKeeper } from "../../src/modules/status/data-faults.ts";
import { MemoryStore, type MemoryStoreContents } from "./memory-store.ts";

const encoder = new TextEncoder();
/** Wall clock at which every rig starts: 2026-01-31T12:00:00Z. */
export const START_MS = Date.UTC(2026, 0, 31, 12);
export const DAY_MS = 24 * 3600 * 1000;

/** A stream that a fake engine holds. */
export interface FakeStream {
  readonly summary: SeriesSummary;
  readonly streamId: Uint8Array;
  readonly partition: number;
  readonly times: readonly number[];
  readonly values: readonly number[];
  readonly pendingChunks: readonly Uint8Array[];
}

export class FakeEngine implements EngineLink {
  readonly frames: EngineFrame[] = [];
  readonly streams: FakeStream[] = [];
  /** What the coordinator gave back. */
  readonly delivered: ReturnedStreams[] = [];
  isDead = false;
  /** What it tells of a pass of the Watchdog besides its frames. */
  found: ((pass: string) => unknown) | undefined;
  /** What it tells of the limits that tenants share. */
  shares: readonly ShareRow[] = [];
  /** How its services behave: JSON of [tenant, service], four deviations each. */
  behaviour: { services: string[]; deviations: Float32Array<ArrayBuffer> } = { services: [], deviations: new Float32Array(0) };

  /** What it holds of any service. */
  history: Omit<ServiceHistoryAnswer, "id"> = {
    type: "service-history",
    columns: "",
    names: [],
    aggregations: new Uint8Array(0),
    starts: new Uint16Array(1),
    streamIds: new Uint8Array(0),
    counts: new Uint8Array(0),
    times: new Float64Array(0),
    values: new Float64Array(0),
    pendingChunks: [],
  };

  /** What it was told. */
  readonly reported: EngineNotice[] = [];

  notify(message: EngineNotice): void {
    this.reported.push(message);
  }

  deliver(streams: ReturnedStreams): void {
    this.delivered.push(streams);
  }

  takeFrames(most: number): EngineFrame[] {
    return this.frames.splice(0, most).map(({ kind, payload }) => ({ kind, payload: Uint8Array.from(payload) }));
  }

  /** What was given back is overwritten, so that whoever reads it later is found out. */
  reuse(payload: Uint8Array): void {
    payload.fill(0xff);
  }

  async ask(query: EngineQuery): Promise<EngineAnswer> {
    await Promise.resolve();
    if (this.isDead) throw new Error("no answer");
    if (query.type === "log-mark") return query;
    if (query.type === "behaviour") return { type: "behaviour", id: query.id, streams: 0, tookMs: 0, done: true, ...this.behaviour };
    if (query.type === "watchdog")
      return {
        ...{ type: "watchdog", id: query.id, counts: NO_COUNTS, tookMs: 0, share: 1, wasBusy: false, waits: false, done: true },
        found: this.found?.(query.detector),
      };
    if (query.type === "pending-chunks") return { type: "pending-chunks", id: query.id, chunks: [] };
    if (query.type === "service-history") return { id: query.id, ...this.history };
    if (query.type === "shares") return { type: "shares", id: query.id, rows: this.shares };
    if (query.type === "evidence") {
      const nothing = { names: [], namesFrom: 0, services: [], numbers: new Float64Array(0), lines: [], requests: [], rings: [] };
      const noOperations = { callees: [], operations: [], operationNumbers: new Float64Array(0), named: [] };
      return { type: "evidence", id: query.id, ...nothing, ...noOperations, streams: 0, tookMs: 0, done: true };
    }
    if (query.type === "service-list") {
      const own = this.streams.filter(({ summary: s }) => s.tenant === query.tenant);
      const services = new Map(own.map(({ summary: s }) => [`${s.environment} ${s.serviceId}`, s]));
      return {
        type: "service-list",
        id: query.id,
        rows: [...services.values()].map((s) => [s.serviceId, s.environment, 1, s.firstTimeMs ?? 0, s.lastTimeMs ?? 0] as const),
      };
    }
    if (query.type === "coverage" || query.type === "stream-page" || query.type === "stream-changes" || query.type === "stream-values")
      throw new Error("these streams have no detectors");
    if (query.type === "stream-count") {
      return { type: "stream-count", id: query.id, streams: this.streams.filter(({ summary: s }) => s.tenant === query.tenant).length };
    }
    const matching = this.streams
      .filter(({ summary: s }) => s.tenant === query.tenant && (query.serviceId === null || s.serviceId === query.serviceId))
      .filter(({ summary: s }) => query.metricName === null || s.metricName === query.metricName)
      .filter(({ summary: s }) => query.environment === null || s.environment === query.environment)
      .sort((a, b) => compareSeriesKeys(seriesKey(a.summary), seriesKey(b.summary)));
    if (query.type === "series") {
      const after = query.after;
      const page = after === null ? matching : matching.filter(({ summary }) => compareSeriesKeys(seriesKey(summary), after) > 0);
      const series = page.slice(0, query.limit).map(({ summary }) => summary);
      return { type: "series", id: query.id, rows: [JSON.stringify(series)], total: matching.length, returned: 0 };
    }
    const streams = matching.filter(
      ({ summary }) => query.attributes === null || canonicalAttributes(summary.attributes) === query.attributes,
    );
    return { id: query.id, ...dataOf(streams) };
  }
}

function dataOf(streams: readonly FakeStream[]): Omit<SeriesDataAnswer, "id"> {
  const [first] = streams;
  const { summary = null, streamId = null, partition = 0, times = [], values = [], pendingChunks = [] } = first ?? {};
  return {
    type: "series-data",
    matches: streams.length,
    returned: 0,
    summary,
    streamId,
    partition,
    times: Float64Array.from(times),
    values: Float64Array.from(values),
    pendingChunks,
    openChunks: [],
  };
}

export interface RigOptions extends Partial<CoordinatorOptions> {
  /** What waits for a time is looked at no more: runs of runbooks wait for a day. */
  readonly sleepsForEver?: boolean;
  readonly engines?: number;
  readonly seed?: number;
  /** How often processes before it have drawn random bytes: it draws others. */
  readonly draws?: number;
  readonly control?: MemoryStoreContents;
  readonly series?: MemoryStoreContents;
  readonly nowMs?: number;
  /** What it takes to read a stored block, of the monotonic clock; nothing where it is not given. */
  readonly blockMs?: number;
  readonly faultKeeper?: FaultKeeper;
  readonly setAsideKeeper?: SetAsideKeeper;
  /** Engines still read their logs; else they are ready from the beginning. */
  readonly isStarting?: boolean;
}

export class Rig {
  readonly control: MemoryStore;
  readonly series: MemoryStore;
  readonly engines: readonly FakeEngine[];
  readonly messages: CoordinatorMessage[] = [];
  readonly latencies: number[] = [];
  readonly floors: LogFloor[] = [];
  readonly coordinator: Coordinator;
  readonly #slots = new Float64Array(COORDINATOR_SLOTS);
  nowMs: number;
  /** What the log takes. */
  logBytes = 0;
  /** Free on the disk. */
  freeBytes = 1e9;
  monotonicMs = 1_000;
  #nextCall = 1;
  #draws: number;

  private constructor(given: RigOptions) {
    const { engines = 1, seed, control, series, nowMs = START_MS, blockMs = 0, draws = 0, ...options } = given;
    const { faultKeeper, setAsideKeeper, ...settingsGiven } = options;
    const delays = seed === undefined ? {} : { seed };
    this.#draws = draws;
    this.nowMs = nowMs;
    this.control = new MemoryStore({ tables: CONTROL_TABLES, ...delays, ...(control && { contents: control }) });
    this.series = new MemoryStore({ tables: SERIES_TABLES, ...delays, ...(series && { contents: series }) });
    const get = this.series.get.bind(this.series);
    this.series.get = (table, key) => {
      if (table === "blocks") this.monotonicMs += blockMs;
      return get(table, key);
    };
    this.engines = Array.from({ length: engines }, () => new FakeEngine());
    const settings = {
      version: "1.0.0",
      zThreshold: 3,
      samplesMin: 12,
      window: 120,
      retentionMs: 30 * DAY_MS,
      rawRetentionMs: 7 * DAY_MS,
      ...settingsGiven,
    };
    this.coordinator = new Coordinator(settings, {
      controlStore: this.control,
      seriesStore: this.series,
      engines: this.engines,
      counters: this.#slots,
      nowMs: () => this.nowMs,
      monotonicMs: () => this.monotonicMs,
      emit: (message) => void this.messages.push(message),
      observeLatencySeconds: (seconds) => void this.latencies.push(seconds),
      deleteLogSegments: (floor) => void this.floors.push(floor),
      measureDisk: () => ({ logBytes: this.logBytes, logSegments: 1, freeBytes: this.freeBytes }),
      randomBytes: (count) => this.#draw(count),
      ...(faultKeeper && { faultKeeper }),
      ...(setAsideKeeper && { setAsideKeeper }),
      yieldToLoop: () => Promise.resolve(),
      sleep: options.sleepsForEver === true ? () => new Promise<void>(() => undefined) : () => Promise.resolve(),
    });
  }

  static async open(options: RigOptions = {}): Promise<Rig> {
    const rig = new Rig(options);
    await rig.coordinator.open();
    if (!options.isStarting) rig.coordinator.markEnginesReady();
    return rig;
  }

  /** Bytes that differ from draw to draw. */
  #draw(count: number): Uint8Array {
    const bytes = new Uint8Array(count).fill(9 + this.#draws);
    bytes[0] = this.#draws >> 8;
    this.#draws++;
    return bytes;
  }

  /** A new process over what this one has committed. */
  restarted(options: RigOptions = {}): Promise<Rig> {
    return Rig.open({
      engines: this.engines.length,
      nowMs: this.nowMs,
      draws: this.#draws,
      ...options,
      control: this.control.contents,
      series: this.series.contents,
    });
  }

  counter(name: CoordinatorCounter): number {
    return this.#slots[COORDINATOR_COUNTERS.indexOf(name)] as number;
  }

  /** Steps until there is nothing more to do at once. */
  async drain(): Promise<StepReport> {
    for (;;) {
      const report = await this.coordinator.step();
      if (!report.more) return report;
    }
  }

  /** Gives frames to an engine and drains. */
  async take(...frames: EngineFrame[]): Promise<void> {
    this.engines[0]?.frames.push(...frames);
    await this.drain();
  }

  ask(
    endpoint: string,
    query: Record<string, string> = {},
    path: Record<string, string> = {},
    tenant = "default",
    content: unknown = undefined,
    mediaType = "application/json",
  ) {
    return this.askAs({ tenant, subject: "test", role: "viewer" }, endpoint, { query, path, content, mediaType });
  }

  /** Asks as somebody; the role is not checked, that is the front's. */
  async askAs(
    principal: Principal,
    endpoint: string,
    {
      query = {},
      path = {},
      content = undefined,
      mediaType = "application/json",
      ifMatch,
    }: {
      readonly query?: Record<string, string>;
      readonly path?: Record<string, string>;
      readonly content?: unknown;
      readonly mediaType?: string;
      readonly ifMatch?: string | undefined;
    } = {},
  ) {
    const id = this.#nextCall++;
    await this.coordinator.handle({
      type: "query",
      id,
      endpoint,
      principal,
      path,
      query,
      body: content === undefined ? null : typeof content === "string" ? content : JSON.stringify(content),
      requestId: "test",
      mediaType,
      ...(ifMatch !== undefined && { ifMatch }),
      address: "127.0.0.1",
    });
    const answer = this.messages.find((message): message is QueryAnswer => message.type === "answer" && message.id === id);
    if (answer === undefined) throw new Error(`${endpoint} was not answered`);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all shapes
    return { status: answer.status, body: answer.body === "" ? null : (JSON.parse(answer.body) as any) };
  }

  /** Everything durable, in the order of its keys, to compare two states. */
  durable(): unknown {
    const tables = [...this.control.contents, ...this.series.contents].filter(([table]) => !WRITTEN_BY_LOOKS.has(table));
    return tables.map(([table, rows]) => [
      table,
      [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key, Buffer.from(value).toString("latin1")]),
    ]);
  }
}

/** Tables of analyses: what they hold follows from when one looked, not from the frames alone. */
const WRITTEN_BY_LOOKS = new Set(["rca_reports", "incident_members", "incident_memory"]);

function json(kind: number, value: unknown): EngineFrame {
  return { kind, payload: encoder.encode(JSON.stringify(value)) };
}

/** A verdict frame; the episode's id follows from stream, direction and start. */
export function episode(change: Partial<EpisodeFrame> = {}): EngineFrame {
  const frame: Omit<EpisodeFrame, "episodeId"> = {
    tenant: "default",
    environment: "prod",
    serviceId: "checkout",
    metricName: "latency_ms",
    attributes: {},
    transition: "open",
    detector: "z_score",
    direction: "high",
    startedAtMs: START_MS - 1000,
    observedAtMs: START_MS - 500,
    z: 5,
    verdict: { observed: 1 },
    explanation: "why",
    arrivalMs: 0,
    ...change,
  };
  return json(episodeKind(frame), {
    episodeId: hash128(
      JSON.stringify([
        frame.tenant,
        frame.environment,
        frame.serviceId,
        frame.metricName,
        frame.attributes,
        frame.direction,
        frame.startedAtMs,
      ]),
    ),
    ...frame,
    ...change,
  });
}

export function record(change: Partial<RecordEnvelope> & { readonly record?: Record<string, unknown> } = {}): EngineFrame {
  const timeMs = change.timeMs ?? START_MS;
  const fields = { service_id: "checkout", type: "log", body: "hello", timestamp: new Date(timeMs).toISOString(), ...change.record };
  const envelope: RecordEnvelope = {
    tenant: "default",
    id: hash128(JSON.stringify([timeMs, fields])),
    timeMs,
    receivedMs: timeMs + 5,
    environment: "prod",
    ...change,
    record: fields,
  };
  return json(FRAME_RECORD, envelope);
}

export function deadLetter(change: Partial<DeadLetterEnvelope> = {}): EngineFrame {
  const letter: Omit<DeadLetterEnvelope, "id"> = {
    tenant: "default",
    reason: "missing_value",
    field: "value",
    message: "value is absent",
    topic: "json",
    receivedMs: START_MS,
    payload: { a: 1 },
    ...change,
  };
  return json(FRAME_DEAD_LETTER, { id: hash128(JSON.stringify(letter)), ...letter, ...change });
}

export function serviceLabels(labels: ServiceLabelsEnvelope["labels"], serviceId = "checkout", tenant = "default"): EngineFrame {
  return json(FRAME_SERVICE_LABELS, { tenant, serviceId, labels } satisfies ServiceLabelsEnvelope);
}

export function logMark(mark: LogMark, usage: readonly TenantUsage[] = []): EngineFrame {
  return json(FRAME_LOG_MARK, { mark, usage } satisfies LogMarkFrame);
}

export function checkpoint(
  partition: number,
  epoch: number,
  vector: readonly LogMark[],
  nextBlock = 0,
  state = "state",
  { generation = 1, parts = 0, changes = new Uint8Array(0) as Uint8Array } = {},
): EngineFrame {
  const header = encoder.encode(
    JSON.stringify({ partition, epoch, vector, nextBlock, generation, parts, streams: 1, nextSerial: 0, coldBytes: changes.length }),
  );
  const padded = (header.length + 3) & ~3;
  const bytes = encoder.encode(state);
  const payload = new Uint8Array(4 + padded + bytes.length + changes.length).fill(0x20);
  payload.set(changes, 4 + padded + bytes.length);
  new DataView(payload.buffer).setUint32(0, padded, true);
  payload.set(header, 4);
  payload.set(bytes, 4 + padded);
  return { kind: FRAME_CHECKPOINT, payload };
}

export function checkpointPart(partition: number, generation: number, part: number, text: string): EngineFrame {
  const bytes = encoder.encode(text);
  const payload = new Uint8Array(12 + bytes.length);
  const view = new DataView(payload.buffer);
  [partition, generation, part].forEach((word, index) => view.setUint32(4 * index, word, true));
  payload.set(bytes, 12);
  return { kind: FRAME_CHECKPOINT_PART, payload };
}

export function block(partition: number, number: number, bytes: Uint8Array): EngineFrame {
  const payload = new Uint8Array(8 + bytes.length);
  const view = new DataView(payload.buffer);
  view.setUint32(0, partition, true);
  view.setUint32(4, number, true);
  payload.set(bytes, 8);
  return { kind: FRAME_BLOCK, payload };
}

/** A stream with its newest values. */
export function stream(change: Partial<SeriesSummary> = {}, data: Partial<Omit<FakeStream, "summary">> = {}): FakeStream {
  const times = data.times ?? [];
  const values = data.values ?? [];
  const summary: SeriesSummary = {
    tenant: "default",
    environment: "prod",
    serviceId: "checkout",
    metricName: "latency_ms",
    attributes: {},
    kind: "gauge",
    samples: times.length,
    lastValue: values.at(-1) ?? null,
    lastTimeMs: times.at(-1) ?? null,
    firstTimeMs: times[0] ?? null,
    serviceSinceMs: times[0] ?? null,
    ended: false,
    endsWithHistory: false,
    retainedAsRecords: false,
    bucketWidth: 0,
    ...change,
  };
  const streamId = Uint8Array.from(Buffer.from(hash128(JSON.stringify(summary)), "hex"));
  return { summary, streamId, partition: 0, times, values, pendingChunks: [], ...data };
}
