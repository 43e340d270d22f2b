// An engine's part of the Watchdog's cycle: for each pass a scan over its services. What a pass finds leaves through the outbox as verdict frames; what it
// has looked at is counted.
import { WATCHDOG_ANSWER_MS, WATCHDOG_BUSY_MS } from "../../../../core/config/pace-limits.ts";
import type { CoverageAnswer, CoverageQuery } from "../../../../core/protocol/coverage.ts";
import type {
  DetectorName,
  ServiceHistoryAnswer,
  ServiceHistoryQuery,
  WatchdogAnswer,
  WatchdogCounts,
  WatchdogNotice,
  WatchdogQuery,
} from "../../../../core/protocol/engine-control.ts";
import { NOT_VISITED } from "../../../../domain/detection/coverage.ts";
import { CoverageScan, type CoverageScanDependencies } from "./coverage-scan.ts";
import { noHistory } from "./service-history.ts";
import { ServiceScan, type ServiceScanDependencies, type ServiceVisitor } from "./service-scan.ts";

/** A detector of the Watchdog: visits services, counts, and may tell something with each answer. */
export interface WatchdogDetector extends ServiceVisitor {
  /** False while what it needs is still on its way; the pass waits. Absent for always true. */
  readonly isReady?: boolean;
  /** Counts since the last call. */
  takeCounts(): WatchdogCounts;
  /** Report to the coordinator besides frames since the last call; undefined where there is none. */
  takeFound(): unknown;
  /** Takes what the coordinator tells without being asked, where it is for this detector. */
  take?(notice: WatchdogNotice): void;
  /** Samples that it holds of a service for a training, where that is its matter. */
  history?(query: ServiceHistoryQuery): ServiceHistoryAnswer;
  /** Outcome for a stream in its last pass, in the words of domain/detection/coverage.ts. */
  streamState?(slot: number): string;
  /** The same of a service, one for each environment that was judged or why none was. */
  serviceStates?(key: string, environment: string | null): readonly string[];
  /** Has all that it knows stored, before the end. */
  storeAll?(): void;
}

export const NO_COUNTS: WatchdogCounts = { evaluated: 0, learning: 0, skipped: {} };

export interface EngineWatchdogDependencies
  extends ServiceScanDependencies,
    Pick<CoverageScanDependencies, "records" | "samplesMin" | "nameOf"> {}

interface AskedScan {
  readonly query: WatchdogQuery;
  readonly askedMs: number;
  tookMs: number;
}

/** The detectors of an engine by pass; a pass without one is at its end at once. */
export class EngineWatchdog {
  readonly #monotonicMs: () => number;
  readonly #passes = new Map<DetectorName, { readonly detector: WatchdogDetector; readonly scan: ServiceScan }>();
  readonly #coverage: CoverageScan;
  #asked: AskedScan | undefined;
  /** When there was a body last. */
  #busyMs = Number.NEGATIVE_INFINITY;

  constructor(detectors: Partial<Record<DetectorName, WatchdogDetector>>, dependencies: EngineWatchdogDependencies) {
    this.#monotonicMs = dependencies.monotonicMs;
    this.#coverage = new CoverageScan({
      ...dependencies,
      streamState: (name, slot) => detectors[name]?.streamState?.(slot) ?? NOT_VISITED,
      serviceStates: (key, environment) => detectors.services?.serviceStates?.(key, environment) ?? [NOT_VISITED],
    });
    for (const [name, detector] of Object.entries(detectors)) {
      this.#passes.set(name as DetectorName, { detector, scan: new ServiceScan(detector, dependencies) });
    }
  }

  /** Hands a notice to the detectors. */
  take(notice: WatchdogNotice): void {
    for (const { detector } of this.#passes.values()) detector.take?.(notice);
  }

  /** Asks the pass over services. */
  history(query: ServiceHistoryQuery): ServiceHistoryAnswer {
    return this.#passes.get("services")?.detector.history?.(query) ?? noHistory(query.id);
  }

  /** Does the slice of a scan over what the detectors look at. */
  coverage(query: CoverageQuery): CoverageAnswer {
    return this.#coverage.answer(query);
  }

  storeAll(): void {
    for (const { detector } of this.#passes.values()) detector.storeAll?.();
  }

  /** Takes a question; a newer one takes its place. */
  ask(query: WatchdogQuery): void {
    this.#asked = { query, askedMs: this.#monotonicMs(), tookMs: 0 };
  }

  /** The engine has had a body. */
  noteBody(): void {
    this.#busyMs = this.#monotonicMs();
  }

  /** Whether a slice is to be done now, while bodies wait or do not. */
  isDue(bodiesWait: boolean): boolean {
    const asked = this.#asked;
    if (asked === undefined) return false;
    if (!bodiesWait || !asked.query.yields) return true;
    return this.#monotonicMs() - asked.askedMs >= WATCHDOG_ANSWER_MS;
  }

  /** Does a slice of what is asked for, and answers once it is enough. */
  step(): WatchdogAnswer | undefined {
    const asked = this.#asked;
    if (asked === undefined) return undefined;
    const { id, cycle, detector: name, nowMs, workMs, sliceMs } = asked.query;
    const startMs = this.#monotonicMs();
    const at = this.#passes.get(name);
    const isReady = at?.detector.isReady ?? true;
    const done = isReady && (at?.scan.slice(cycle, nowMs, sliceMs) ?? true);
    const endMs = this.#monotonicMs();
    asked.tookMs += endMs - startMs;
    if (isReady && !done && asked.tookMs < workMs && endMs - asked.askedMs < WATCHDOG_ANSWER_MS) return undefined;
    this.#asked = undefined;
    const counts = at?.detector.takeCounts() ?? NO_COUNTS;
    const found = at?.detector.takeFound();
    const { tookMs } = asked;
    const wasBusy = endMs - this.#busyMs < WATCHDOG_BUSY_MS;
    const share = isReady ? (at?.scan.share ?? 1) : 0;
    return { type: "watchdog", id, counts, found, done, share, wasBusy, waits: !isReady, tookMs };
  }
}
