// Made-up services of several pods that a rolling deployment replaces each hour, one after the other: each new pod has another name, begins with cold caches, and does
// what the one before it did. One minute a step; everything follows from the seed.
import { FLAG_COUNTER, FLAG_PERCENT } from "../../../src/core/layout/stream-record.ts";
import type { BacktestSeries } from "../../../src/domain/backtest/history.ts";
import { type Generator, generator } from "../../support/generator.ts";

export const MINUTE_MS = 60_000;
/** Monday, the first minute. */
export const START_MS = Date.UTC(2026, 0, 5);
const HOUR_MINUTES = 60;
const DAY_MINUTES = 1_440;
/** Minutes between two pods that are replaced. */
const STAGGER_MINUTES = 2;
/** Standard deviations of latency and cpu more in the first minute of a pod, halved each minute. */
const COLD_SD = 4;

export const FAULT_KINDS = ["errors", "slow", "busy", "no traffic"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** A fault of one pod from a minute on until it is replaced. */
export interface PodFault {
  readonly kind: FaultKind;
  readonly pod: number;
  readonly onset: number;
}

interface Shape {
  readonly rate: number;
  readonly dayShare: number;
  readonly phase: number;
  readonly latencyMs: number;
  readonly cpu: number;
}

const METRICS = [
  { metricName: "http.requests_total", flags: FLAG_COUNTER },
  { metricName: "http.error_ratio", flags: FLAG_PERCENT },
  { metricName: "http.latency_ms.p95", flags: 0 },
  { metricName: "cpu.percent", flags: FLAG_PERCENT },
] as const;

/** Minutes at which a place gets a new pod, the first included. */
function births(place: number, hours: number): number[] {
  return Array.from({ length: hours }, (_, hour) => (hour === 0 ? 0 : hour * HOUR_MINUTES + place * STAGGER_MINUTES));
}

/** A fault somewhere in the life of a pod that has been replaced twice before. */
export function plantFault(seed: number, kind: FaultKind, pods: number, hours: number): PodFault {
  const { uniform } = generator(seed ^ 0x5bd1e995);
  const pod = Math.floor(uniform() * pods);
  const born = births(pod, hours)[2 + Math.floor(uniform() * (hours - 3))] as number;
  return { kind, pod, onset: born + 5 + Math.floor(uniform() * 40) };
}

/** The series of a service: those of each pod, or, where nothing is renamed, those of each place. */
export function podSeries(
  serviceId: string,
  seed: number,
  { pods, hours, isRenamed, fault }: { pods: number; hours: number; isRenamed: boolean; fault: PodFault | undefined },
): BacktestSeries[] {
  const { uniform } = generator(seed);
  const shape: Shape = {
    rate: 10 ** (1.5 + 2 * uniform()),
    dayShare: 0.1 + 0.5 * uniform(),
    phase: 2 * Math.PI * uniform(),
    latencyMs: 10 ** (1 + 2 * uniform()),
    cpu: 15 + 45 * uniform(),
  };
  return Array.from({ length: pods }, (_, place) => place).flatMap((place) => {
    const own = fault?.pod === place ? fault : undefined;
    const rows = placeRows(shape, generator(seed * 31 + place * 7919), births(place, hours), hours * HOUR_MINUTES, own);
    const lives = isRenamed ? births(place, hours) : [0];
    return lives.flatMap((from, life) => {
      const to = lives[life + 1] ?? hours * HOUR_MINUTES;
      return METRICS.map(({ metricName, flags }, m) => {
        // The first value of a counter has none before it.
        const first = flags === FLAG_COUNTER ? from + 1 : from;
        const minutes = Array.from({ length: to - first }, (__, i) => first + i);
        return {
          name: { tenant: "t", environment: "", serviceId, metricName, attributes: { pod: `${place}-${life}` } },
          flags,
          times: Float64Array.from(minutes, (minute) => START_MS + minute * MINUTE_MS),
          values: Float64Array.from(minutes, (minute) => (rows[minute] as readonly number[])[m] as number),
        };
      });
    });
  });
}

/** Requests, error ratio, latency and cpu of each minute of a place. */
function placeRows(shape: Shape, random: Generator, births: readonly number[], minutes: number, fault: PodFault | undefined): number[][] {
  const noise = [0, 0, 0, 0];
  let born = 0;
  let life = 0;
  return Array.from({ length: minutes }, (_, minute) => {
    while ((births[life] ?? Number.POSITIVE_INFINITY) <= minute) born = births[life++] as number;
    for (let m = 0; m < 4; m++) noise[m] = 0.4 * (noise[m] as number) + Math.sqrt(1 - 0.16) * tailed(random);
    const [requests, errors, slow, busy] = noise as [number, number, number, number];
    const cold = COLD_SD * 0.5 ** (minute - born);
    const isFaulty = fault !== undefined && minute >= fault.onset && born <= fault.onset && minute < (births[life] ?? minutes);
    const kind = isFaulty ? fault.kind : undefined;
    const day = 1 + shape.dayShare * Math.sin((2 * Math.PI * minute) / DAY_MINUTES + shape.phase);
    const expected = shape.rate * day;
    const count = Math.max(0, Math.round(expected + requests * (0.05 * expected + Math.sqrt(expected))));
    return [
      kind === "no traffic" ? 0 : count,
      Math.min(1, Math.max(0, 0.004 * (1 + 0.15 * errors)) + (kind === "errors" ? 0.2 : 0)),
      shape.latencyMs * (1 + 0.15 * day) * Math.max(0.1, 1 + 0.08 * (slow + cold)) * (kind === "slow" ? 3 : 1),
      kind === "busy" ? 97 : Math.min(100, Math.max(0, shape.cpu * (0.6 + 0.4 * day) + 2 * (busy + cold))),
    ];
  });
}

/** Student's t with five degrees of freedom, of unit variance. */
function tailed({ normal }: Generator): number {
  let squares = 0;
  for (let i = 0; i < 5; i++) squares += normal() ** 2;
  return normal() / Math.sqrt(squares / 5) / Math.sqrt(5 / 3);
}
