/**
 * The vectorizer: at most every minute it asks the engines how their services behave and scores each pillar value by it.
 *
 *   1. what has changed in the service map since the last tick is applied
 *   2. each engine scans over its services, a slice of 0.3 ms an answer (actors/engine/queries/behaviour-scan.ts); engines scan at once
 *   3. all values are scored (domain/pillars/), in turns of about 0.5 ms
 *   4. histories that have grown are stored, each every ten minutes: a crash costs about so much of them
 *
 * A tick runs beside the steps of the coordinator and writes to the store in edits of 250 rows. It sleeps four times as long as it works, so that 400,000 streams take
 * some four seconds, a million some ten, and no verdict waits. While nothing is mapped nothing is asked.
 */
import { type KeyValueStore, StoreError, type StoreOperation } from "../../adapters/storage/key-value-store.ts";
import {
  PILLAR_HISTORIES_PER_COMMIT,
  PILLAR_HISTORIES_PER_STEP,
  PILLAR_HISTORY_STORE_MS,
  SERVICE_MAP_CHANGE_MS_MAX,
  VECTORIZER_BUSY_SHARE,
  VECTORIZER_REST_MS_MAX,
} from "../../core/config/limits.ts";
import { background, task } from "../../core/faults/guard.ts";
import { WINDOW_MINUTES } from "../../domain/pillars/magnitude-history.ts";
import type { PillarCounts, PillarSpace } from "../../domain/pillars/pillar-space.ts";
import type { PillarValue } from "../../domain/pillars/pillar-value.ts";
import { FAMILIES } from "../../domain/series/metric-family.ts";
import { type EngineClient, EngineUnavailableError } from "../engines/engine-client.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import { historyKey, type ServiceMapBook } from "./service-map-book.ts";

const DIMENSIONS = FAMILIES.length;
const BEHAVIOUR_MS = WINDOW_MINUTES * 60_000;
/** Today and six days are what a score compares with. */
const HISTORY_MS = 7 * 24 * 3600 * 1000;

export interface VectorizerOptions {
  /** Milliseconds from one tick to the next; none where it is not given. */
  readonly intervalMs: number | undefined;
}

export interface VectorizerDependencies {
  readonly control: KeyValueStore;
  readonly engines: EngineClient;
  readonly serviceMap: ServiceMapBook;
  readonly counters: CoordinatorCounters;
  nowMs(): number;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
  /** Gives work its turn between transactions. */
  edit<T>(work: () => Promise<T>): Promise<T>;
}

/** Vectorizer state in the status. `idle`: nothing is mapped, or the first tick is still to come. `behind`: no tick has ended within a minute of when it was due. */
export interface VectorizerFacts extends PillarCounts {
  readonly state: "disabled" | "idle" | "ok" | "behind";
  /** End of the last tick by the wall clock; 0 before the first. */
  readonly lastRunMs: number;
  /** Duration of the last tick, from its beginning to its end, and the working time of all threads for it. */
  readonly durationMs: number;
  readonly workMs: number;
  readonly streams: number;
}

export class Vectorizer {
  readonly #options: VectorizerOptions;
  readonly #dependencies: VectorizerDependencies;
  #running = false;
  #scan = 0;
  #dueMs = 0;
  /** Monotonic time from which a tick is overdue; moved on by each that ends. */
  #freshUntilMs = Number.POSITIVE_INFINITY;
  #lastRunMs = 0;
  #durationMs = 0;
  #workMs = 0;
  #streams = 0;

  constructor(options: VectorizerOptions, dependencies: VectorizerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  get #pillars(): PillarSpace {
    return this.#dependencies.serviceMap.pillars;
  }

  /** Begins a tick when it is time, and returns the monotonic time at which to call again. */
  step(): number {
    const { serviceMap, counters, monotonicMs } = this.#dependencies;
    const { intervalMs } = this.#options;
    counters.set("servicesMapped", serviceMap.size);
    if (intervalMs === undefined) return Number.POSITIVE_INFINITY;
    const nowMs = monotonicMs();
    if (nowMs < this.#dueMs) return this.#dueMs;
    this.#dueMs = nowMs + intervalMs;
    if (this.#pillars.isEmpty) return this.#dueMs;
    if (this.#freshUntilMs === Number.POSITIVE_INFINITY) this.#freshUntilMs = nowMs + SERVICE_MAP_CHANGE_MS_MAX;
    if (!this.#running) background(task("the scores of pillars"), this.#step(nowMs));
    return this.#dueMs;
  }

  facts(): VectorizerFacts {
    const work = { lastRunMs: this.#lastRunMs, durationMs: this.#durationMs, workMs: this.#workMs, streams: this.#streams };
    return { state: this.#state(), ...work, ...this.#pillars.counts };
  }

  #state(): VectorizerFacts["state"] {
    if (this.#options.intervalMs === undefined) return "disabled";
    if (this.#pillars.isEmpty) return "idle";
    if (this.#dependencies.monotonicMs() > this.#freshUntilMs) return "behind";
    return this.#lastRunMs === 0 ? "idle" : "ok";
  }

  /** An engine that does not answer ends the tick, and the next one begins anew; a defect ends the thread. */
  async #step(startMs: number): Promise<void> {
    const { counters, nowMs, monotonicMs } = this.#dependencies;
    const pillars = this.#pillars;
    this.#running = true;
    try {
      const work = { ms: 0, streams: 0 };
      await this.#withPauses(pillars.begin(), work);
      await this.#gather(work);
      await this.#withPauses(pillars.score(nowMs()), work);
      this.#lastRunMs = nowMs();
      this.#durationMs = monotonicMs() - startMs;
      this.#workMs = work.ms;
      this.#streams = work.streams;
      this.#freshUntilMs = monotonicMs() + (this.#options.intervalMs as number) + SERVICE_MAP_CHANGE_MS_MAX;
      counters.add("vectorizerSeconds", work.ms / 1000);
      counters.set("vectorizerTickSeconds", this.#durationMs / 1000);
      counters.set("vectorizerStreams", work.streams);
      await this.#store();
      counters.add("vectorizerTicks", 1);
    } catch (error) {
      if (!(error instanceof EngineUnavailableError || error instanceof StoreError)) throw error;
      counters.add("vectorizerFailures", 1);
    } finally {
      this.#running = false;
      const { values, valuesRefused } = pillars.counts;
      counters.set("pillarValues", values);
      counters.set("pillarValuesRefused", valuesRefused);
    }
  }

  /** Runs pure work, with pauses between its pieces. */
  async #withPauses(pieces: Generator<void>, work: { ms: number }): Promise<void> {
    const { monotonicMs } = this.#dependencies;
    for (let done = false; !done; ) {
      const startMs = monotonicMs();
      done = pieces.next().done === true;
      const tookMs = monotonicMs() - startMs;
      work.ms += tookMs;
      if (!done) await this.#sleep(tookMs);
    }
  }

  /** Verdicts go first: a tick may take long, not much. */
  #sleep(tookMs: number): Promise<void> {
    return this.#dependencies.sleep(Math.min(VECTORIZER_REST_MS_MAX, tookMs / VECTORIZER_BUSY_SHARE - tookMs));
  }

  /** Each engine has one question at a time, so that what it works for this stays between its bodies. */
  async #gather(work: { ms: number; streams: number }): Promise<void> {
    const { engines, nowMs, monotonicMs } = this.#dependencies;
    const pillars = this.#pillars;
    const scan = ++this.#scan;
    const sinceMs = nowMs() - BEHAVIOUR_MS;
    await engines.withEach(async (engine) => {
      for (let done = false; !done; ) {
        const answer = await engines.behaviour(engine, { scan, sinceMs });
        const startMs = monotonicMs();
        answer.services.forEach((service, i) => pillars.take(service, answer.deviations, i * DIMENSIONS));
        const tookMs = answer.tookMs + monotonicMs() - startMs;
        work.ms += tookMs;
        work.streams += answer.streams;
        done = answer.done;
        if (!done) await this.#sleep(tookMs);
      }
    });
  }

  /** Histories that have grown; and those of values that nothing has been mapped to for seven days go. */
  async #store(): Promise<void> {
    const { control, nowMs, edit } = this.#dependencies;
    const due = this.#pillars.unstored(nowMs(), PILLAR_HISTORY_STORE_MS, PILLAR_HISTORIES_PER_STEP);
    for (let at = 0; at < due.length; at += PILLAR_HISTORIES_PER_COMMIT) {
      const values = due.slice(at, at + PILLAR_HISTORIES_PER_COMMIT);
      await edit(() => control.commit(values.map((value) => historyRow(value, value.history.encode()))));
      for (const value of values) value.storedMs = value.history.lastMs;
      await this.#sleep(VECTORIZER_REST_MS_MAX);
    }
    const gone = this.#pillars.forget(nowMs() - HISTORY_MS, PILLAR_HISTORIES_PER_COMMIT);
    if (gone.length > 0) await edit(() => control.commit(gone.map((value) => historyRow(value, undefined))));
  }
}

function historyRow(of: PillarValue, value: Uint8Array | undefined): StoreOperation {
  return { table: "pillar_history", key: historyKey(of), value };
}
