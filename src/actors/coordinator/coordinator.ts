/**
 * The coordinator: takes what engines send, makes it durable, answers questions about it. The only writer of the store.
 *
 * It has no timer and no thread: `step` does one round of work (one transaction, then one step of retention) and says when to call again;
 * `handle` takes commands. The thread around it (worker.ts) or a simulation calls both. At 50 verdicts a transaction of 5 ms it stores about
 * 10,000 anomalies a second; a query takes at most a few ms without giving others their turn.
 */
import { dispatch, type Handlers } from "../../adapters/threads/mailbox.ts";
import type { AccessChange } from "../../core/protocol/access.ts";
import type { LogMark, MetricMetadataEnvelope, MetricScopeEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type {
  DetectorStates,
  DetectorStatesWanted,
  SettingsUpdate,
  StatePart,
  StatePartWanted,
  StoredCheckpoint,
  StreamsWanted,
} from "../../core/protocol/engine-control.ts";
import type { CoordinatorCommand, QueryCall, ReplayAnswer } from "../../core/protocol/query.ts";
import { storedMetricScopes } from "../../modules/series/metric-scope-rows.ts";
import type { QuerySource } from "../../modules/series/query-source.ts";
import type { CoordinatorCounters } from "../../modules/state/coordinator-counters.ts";
import type { DataFaults } from "../../modules/status/data-faults.ts";
import { readDetectorStates } from "../../modules/watchdog/detector-states.ts";
import type { CoordinatorDependencies, CoordinatorOptions } from "./coordinator-options.ts";
import { type CoordinatorParts, makeParts } from "./coordinator-parts.ts";
import type { Loop, StepReport } from "./loop/loop.ts";
import type { CommittedState } from "./nouns/committed-state.ts";
import type { Outbound } from "./outbound.ts";

/** One server's coordinator. Call `open` first, once. */
export class Coordinator {
  readonly #dependencies: CoordinatorDependencies;
  readonly #parts: CoordinatorParts;
  readonly #state: CommittedState;
  readonly #loop: Loop;
  readonly #handlers: Handlers<CoordinatorCommand, Promise<void>> = {
    query: (call) => this.query(call),
    "replay-answer": async (answer) => this.takeReplayAnswer(answer),
    "rule-files": async (files) => this.#parts.rules.directory.take(files),
    "rule-samples-taken": async (taken) => this.#parts.rules.samples.take(taken),
    "rule-work-done": async (done) => this.#parts.rules.workers.take(done),
    "own-telemetry-answer": async (answer) => this.#parts.own.take(answer),
    "summary-worded": async (worded) => this.#parts.wording.take(worded),
    "engines-ready": async () => this.markEnginesReady(),
    listeners: async ({ listeners }) => void Object.assign(this.#parts.listeners, listeners),
    "data-fault": async ({ fault }) => this.dataFaults.add(fault),
    "set-aside": async ({ item }) => this.dataFaults.setAside(item),
    stop: async () => this.stop(),
  };

  constructor(options: CoordinatorOptions, dependencies: CoordinatorDependencies) {
    this.#dependencies = dependencies;
    this.#parts = makeParts(options, dependencies);
    this.#state = this.#parts.state;
    this.#loop = this.#parts.loop;
  }

  get dataFaults(): DataFaults {
    return this.#parts.dataFaults;
  }

  /** Answers what query workers ask for. */
  get source(): QuerySource {
    return this.#parts.source;
  }

  get outbound(): Outbound {
    return this.#parts.outbound;
  }

  /** Reads the store and removes what no checkpoint knows of. Everything else comes after it. */
  async open(): Promise<void> {
    const { randomBytes, nowMs, emit } = this.#dependencies;
    for (const msg of await this.#state.open(randomBytes, nowMs())) emit({ type: "log", level: "warn", component: "store", msg });
    await this.#state.configured.tenants.found(this.#state.control, nowMs());
    this.#loop.lastRunMs = nowMs();
    await this.#parts.list.start();
    countStored(this.#parts.counters, this.#state);
  }

  /** Checkpoints for the engines that own their partitions; these ask for the states. */
  loadCheckpoints(): Iterable<StoredCheckpoint> {
    return this.#state.checkpoints();
  }

  /** A part of a stored state, with bytes of its own. */
  loadStatePart(wanted: StatePartWanted): StatePart {
    return { ...wanted, bytes: this.#state.statePart(wanted) };
  }

  /** Stored states of a detector of the Watchdog, with bytes of their own. */
  loadDetectorStates(wanted: DetectorStatesWanted): DetectorStates {
    return readDetectorStates(this.#state.series, wanted);
  }

  /** Delivers streams that an engine wants back, now or once they are stored. */
  returnStreams(engine: number, { wanted }: StreamsWanted): void {
    this.#parts.coldLoader.ask(engine, wanted);
  }

  /** Types, units and helps of metrics, for all engines. */
  loadMetadata(): readonly MetricMetadataEnvelope[] {
    return this.#state.metadata.all;
  }

  /** First scopes of metrics, for all engines. */
  loadMetricScopes(): readonly MetricScopeEnvelope[] {
    return storedMetricScopes(this.#state.series);
  }

  /** Settings of the Watchdog, for all engines. */
  loadWatchdogSettings(): SettingsUpdate {
    return this.#state.configured.watchdog.update();
  }

  /** Tenants and credentials, for the front. */
  loadAccess(): readonly AccessChange[] {
    return this.#state.configured.accessChanges();
  }

  /** Position up to which each writer's records and dead letters are stored: those logged behind have to be sent again. */
  loadLogMarks(): readonly LogMark[] {
    return this.#state.coverage.marks;
  }

  /**
   * Takes a command. A query is answered through `emit` before the promise resolves, and never rejects. After any other command the caller
   * steps for as long as there is `more`.
   */
  handle(command: CoordinatorCommand): Promise<void> {
    return dispatch(this.#handlers, command);
  }

  /** Does one round of work; a call during a round gets the round that runs. Rejects only on a defect of this program or a store that was closed. */
  step(): Promise<StepReport> {
    return this.#loop.step();
  }

  /** Answers one call. */
  async query(call: QueryCall): Promise<void> {
    const answered = await this.#parts.runner.answer(call);
    this.#dependencies.emit({ type: "answer", id: call.id, ...answered });
  }

  /** An engine has taken a batch of a replay, or has not. */
  takeReplayAnswer(answer: ReplayAnswer): void {
    this.#parts.replay.take(answer);
  }

  markEnginesReady(): void {
    this.#loop.enginesReady = true;
  }

  /** From now on `step` ends with `stopped`, once everything that the engines have sent is stored, or at once when the store does not take it. */
  stop(): void {
    this.#loop.stop();
  }
}

// Gauges of what the store held at the start; what changes them later counts on from there.

/** Sets them, once the state has been read. */
function countStored(counters: CoordinatorCounters, { anomalies, alerts, deadLetters, metadata, analyses }: CommittedState): void {
  counters.set("anomaliesOpen", anomalies.openCount);
  counters.set("alertsFiring", alerts.firingCount);
  counters.set("ledgerRows", alerts.ledger.counts.size);
  counters.set("deadLetters", deadLetters.total);
  counters.set("deadLetterBytes", deadLetters.bytes);
  counters.set("metadataStored", metadata.size);
  counters.set("rcaReports", analyses.reports.size);
}
