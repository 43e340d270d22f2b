// Services of three instances or of one, whose metrics are steady but for their noise, and a step of a known factor for 20 minutes: what an operator would call so many
// times as bad.
import { FLAG_PERCENT } from "../../../src/core/layout/stream-record.ts";
import type { BacktestSeries } from "../../../src/domain/backtest/history.ts";
import { generator } from "../../support/generator.ts";

const START_MS = Date.UTC(2026, 0, 5);
export const STEP_MS = 20 * 60_000;
/** Values before the step: a tail of its own is known by then. */
const BEFORE = 240;
const AFTER = 30;

/** Kinds by the name of a metric; its usual value. */
const KINDS = [
  { metricName: "request.duration_ms.p95", usual: 120, flags: 0 },
  { metricName: "requests_per_second", usual: 40, flags: 0 },
  { metricName: "queue_depth", usual: 25, flags: 0 },
  { metricName: "cpu_percent", usual: 15, flags: FLAG_PERCENT },
] as const;
export const FACTORS = [1.2, 2, 4, 10, 0] as const;
const VARIATIONS = [0.02, 0.05, 0.15, 0.2];
const INTERVALS_S = [10, 30, 60];

export interface PlantedStep {
  readonly factor: number;
  readonly series: BacktestSeries;
  readonly times: Float64Array;
  readonly onsetMs: number;
}

/** The steps of a seed: each factor on each kind, at an interval and a noise that are drawn. */
export function plantedSteps(seed: number): PlantedStep[] {
  return FACTORS.flatMap((factor) => KINDS.map((kind, i) => plantedStep(seed, factor, kind, i)));
}

function plantedStep(seed: number, factor: number, { metricName, usual, flags }: (typeof KINDS)[number], i: number): PlantedStep {
  const { uniform, normal } = generator((seed * 7919 + i * 104_729 + Math.round(10 * factor) * 31) >>> 0);
  const intervalMs = 1_000 * (INTERVALS_S[Math.floor(INTERVALS_S.length * uniform())] as number);
  const variation = VARIATIONS[Math.floor(VARIATIONS.length * uniform())] as number;
  const during = STEP_MS / intervalMs;
  const times = Float64Array.from({ length: BEFORE + during + AFTER }, (_, n) => START_MS + n * intervalMs);
  const values = times.map((_, n) => {
    const level = n >= BEFORE && n < BEFORE + during ? factor * usual : usual;
    return Math.max(0, level * (1 + variation * normal()));
  });
  const name = { tenant: "default", environment: "", serviceId: `step-${i}`, metricName, attributes: {} };
  return { factor, series: { name, flags, times, values }, times, onsetMs: START_MS + BEFORE * intervalMs };
}
