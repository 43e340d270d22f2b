// How fast a cycle of the Watchdog goes: so fast that its scans are over by the goal, going by what they took in the cycle before and by how far they have come.
// A cycle in time pauses between questions; one that is behind does not, and holds its engines for longer at a time, within bounds, so that no verdict of the
// stream waits. Bodies that wait come first, until the rest of the scan needs much of the time that is left to it. What a pass finds does not hang on it: values
// are given to detectors in their order, however the scan is cut.
import {
  WATCHDOG_CYCLE_MS_GOAL,
  WATCHDOG_CYCLE_MS_MAX,
  WATCHDOG_CYCLE_SHARE_GOAL,
  WATCHDOG_CYCLE_SHARE_MAX,
  WATCHDOG_QUESTION_MS_MAX,
  WATCHDOG_QUESTION_MS_MIN,
  WATCHDOG_REST_MS_MAX,
  WATCHDOG_SLICE_MS_MAX,
  WATCHDOG_SLICE_MS_MIN,
} from "../../core/config/pace-limits.ts";

/** Scans aim at being over a little before the goal: what the coordinator does between them counts too. */
const MARGIN = 1.25;
/** Share of an engine's time that a scan may need to be over in time while bodies still come first: between bodies it gets about half, of a busy core less. */
const YIELDING_SHARE = 0.4;
/** From this share of a scan on its own work alone tells how much is left. */
const TELLING_SHARE = 0.1;

/** Next question to an engine, all in ms. */
export interface ScanStep {
  /** Before the question. */
  readonly restMs: number;
  /** Work until it answers. */
  readonly workMs: number;
  /** Work at a time between bodies. */
  readonly sliceMs: number;
  /** Bodies that wait come first. */
  readonly yields: boolean;
}

/** Progress of a scan by its last question. */
export interface Progress {
  /** Work for it, of engine and coordinator. */
  readonly tookMs: number;
  /** From the question to the end of what its answer asked for. */
  readonly elapsedMs: number;
  /** Share of the whole scan, 0..1. */
  readonly share: number;
  /** The engine had bodies not long ago. */
  readonly wasBusy: boolean;
  /** Whether what the pass needs first is still on its way. */
  readonly waits: boolean;
}

interface PacedStage {
  readonly every: number;
  /** Work of the last whole scan by engine. */
  readonly knownMs: Map<number, number>;
}

/** The pace of one Watchdog's cycles. */
export class CyclePace {
  readonly #goalMs: number;
  readonly #mostMs: number;
  /** In their order. */
  readonly #passes = new Map<string, PacedStage>();
  #cycle = 0;
  #beginMs = Number.NEGATIVE_INFINITY;

  /** `intervalMs` is that from one cycle to the next. */
  constructor(intervalMs: number) {
    this.#goalMs = Math.min(WATCHDOG_CYCLE_MS_GOAL, WATCHDOG_CYCLE_SHARE_GOAL * intervalMs);
    this.#mostMs = Math.min(WATCHDOG_CYCLE_MS_MAX, WATCHDOG_CYCLE_SHARE_MAX * intervalMs);
  }

  /** Makes a pass known, once and in the order of passes. */
  add(name: string, every: number): void {
    this.#passes.set(name, { every, knownMs: new Map() });
  }

  begin(cycle: number, nowMs: number): void {
    this.#cycle = cycle;
    this.#beginMs = nowMs;
  }

  /** The pace of a pass's scan over one engine. */
  paceOf(name: string, engine: number): EnginePace {
    const { knownMs } = this.#passes.get(name) as PacedStage;
    return new EnginePace({
      known: knownMs.get(engine),
      laterMs: this.#laterMs(name, engine),
      goalMs: this.#beginMs + this.#goalMs,
      lastMs: this.#beginMs + this.#mostMs,
      over: (workMs) => knownMs.set(engine, workMs),
    });
  }

  /** Time that the passes behind one are still going to take of an engine in this cycle. */
  #laterMs(name: string, engine: number): number {
    const order = [...this.#passes];
    const index = order.findIndex(([own]) => own === name);
    const later = order.slice(index + 1).filter(([, { every }]) => (this.#cycle - 1) % every === 0);
    return later.reduce((sum, [, { knownMs }]) => sum + (knownMs.get(engine) ?? 0), 0);
  }
}

interface PaceInputs {
  readonly known: number | undefined;
  readonly laterMs: number;
  /** When the cycle is to be over, and when even where bodies wait. */
  readonly goalMs: number;
  readonly lastMs: number;
  over(workMs: number): void;
}

/** Shares of an engine's time that are needed from now on to end by the goal and by the last moment; 1 and more where the cycle is behind. */
interface NeededShare {
  readonly byGoal: number;
  readonly byLast: number;
}

/** One scan over one engine. */
export class EnginePace {
  readonly #knowledge: PaceInputs;
  #workMs = 0;

  constructor(knowledge: PaceInputs) {
    this.#knowledge = knowledge;
  }

  get workMs(): number {
    return this.#workMs;
  }

  first(nowMs: number): ScanStep {
    return this.#step(this.#needed(0, nowMs));
  }

  /** After an answer that was not the last. An engine with nothing else to do goes on at once; one that could do nothing yet is left alone for a while. */
  next({ tookMs, elapsedMs, share, wasBusy, waits }: Progress, nowMs: number): ScanStep {
    this.#workMs += tookMs;
    const needed = this.#needed(share, nowMs);
    const step = this.#step(needed);
    if (waits) return { ...step, restMs: WATCHDOG_REST_MS_MAX };
    if (!wasBusy || needed.byGoal >= 1) return step;
    return { ...step, restMs: Math.min(WATCHDOG_REST_MS_MAX, Math.max(0, tookMs / needed.byGoal - elapsedMs)) };
  }

  /** After the last answer. */
  end(tookMs: number): void {
    this.#workMs += tookMs;
    this.#knowledge.over(this.#workMs);
  }

  #needed(share: number, nowMs: number): NeededShare {
    const { known, laterMs, goalMs, lastMs } = this.#knowledge;
    const byShareMs = share > 0 ? (this.#workMs / share) * (1 - share) : 0;
    const ownMs = share < TELLING_SHARE ? Math.max(byShareMs, (known ?? 0) - this.#workMs) : byShareMs;
    const by = (endMs: number) => (nowMs >= endMs ? Number.POSITIVE_INFINITY : (MARGIN * (ownMs + laterMs)) / (endMs - nowMs));
    return { byGoal: by(goalMs), byLast: by(lastMs) };
  }

  #step({ byGoal, byLast }: NeededShare): ScanStep {
    const sliceMs = Math.min(WATCHDOG_SLICE_MS_MAX, Math.max(WATCHDOG_SLICE_MS_MIN, byGoal * WATCHDOG_SLICE_MS_MIN));
    const yields = byLast < YIELDING_SHARE;
    return { restMs: 0, workMs: byGoal >= 1 ? WATCHDOG_QUESTION_MS_MAX : WATCHDOG_QUESTION_MS_MIN, sliceMs, yields };
  }
}
