// Made-up services whose telemetry has what makes quiet hard: AR(1) noise with Student's t tails of five degrees of freedom, days and weeks, counter resets
// and deployments. One interval a step; everything follows from the seed.
import { type Generator, generator } from "../../support/generator.ts";
import { type Incident, incidentEffect } from "./incident-plan.ts";

const DAY_MINUTES = 1_440;
/** Standard deviation of Student's t with five degrees of freedom. */
const T5_SD = Math.sqrt(5 / 3);
const TAIL_FREEDOM = 5;
const DEPLOYMENTS_A_DAY = 0.3;
const RESTARTS_A_DAY = 0.2;
/** After a deployment caches are cold: this much of a standard deviation more latency, halved each minute. */
const COLD_SD = 2;

export const METRICS = ["http.requests_total", "http.error_ratio", "http.latency_ms.p95", "cpu.percent"] as const;

/** Noise of unit variance, correlated from minute to minute. */
class Noise {
  readonly #random: Generator;
  readonly #correlation: number;
  #value = 0;

  constructor(random: Generator, correlation: number) {
    this.#random = random;
    this.#correlation = correlation;
  }

  next(): number {
    let squares = 0;
    for (let i = 0; i < TAIL_FREEDOM; i++) squares += this.#random.normal() ** 2;
    const tail = this.#random.normal() / Math.sqrt(squares / TAIL_FREEDOM) / T5_SD;
    this.#value = this.#correlation * this.#value + Math.sqrt(1 - this.#correlation ** 2) * tail;
    return this.#value;
  }
}

/** One service. `next` gives the values of an interval. */
export class ServiceModel {
  readonly #random: Generator;
  readonly #noise: readonly Noise[];
  readonly #scale: number;
  readonly #dayShare: number;
  readonly #phase: number;
  readonly #latencyMs: number;
  readonly #cpu: number;
  readonly #incident: Incident | undefined;
  /** Minutes of an interval. */
  readonly #minutes: number;
  #sum = 0;
  #coldness = 0;
  /** requests (cumulative), error ratio, latency in ms, cpu in percent. */
  readonly values = new Float64Array(METRICS.length);

  constructor(seed: number, incident: Incident | undefined, minutes = 1) {
    this.#minutes = minutes;
    this.#random = generator(seed);
    const { uniform } = this.#random;
    this.#noise = METRICS.map(() => new Noise(this.#random, 0.8 * uniform()));
    this.#scale = 10 ** (1.5 + 3 * uniform());
    this.#dayShare = 0.1 + 0.5 * uniform();
    this.#phase = 2 * Math.PI * uniform();
    this.#latencyMs = 10 ** (1 + 2 * uniform());
    this.#cpu = 15 + 45 * uniform();
    this.#sum = Math.round(1e6 * uniform());
    this.#incident = incident;
  }

  /** Fills `values` with those of the interval at a minute counted from a Monday's midnight. */
  next(minute: number): void {
    const [requests, errors, latency, cpu] = this.#noise.map((noise) => noise.next()) as [number, number, number, number];
    const weekend = Math.floor(minute / DAY_MINUTES) % 7 >= 5 ? 0.7 : 1;
    const day = weekend * (1 + this.#dayShare * Math.sin((2 * Math.PI * minute) / DAY_MINUTES + this.#phase));
    this.#deploy();
    const { rate, errorRatio, slow, load, spread, errorTimes, slowTimes, loadTimes } = incidentEffect(this.#incident, minute);
    const expected = this.#scale * this.#minutes * day;
    const count = Math.max(0, Math.round(rate * (expected + spread * requests * (0.05 * expected + Math.sqrt(expected)))));
    this.#sum += count;
    const failed = Math.max(0, 0.004 * (1 + 0.15 * spread * errors));
    this.values[0] = this.#sum;
    this.values[1] = Math.min(1, errorTimes * failed + errorRatio);
    this.values[2] = slowTimes * this.#latencyMs * (1 + 0.15 * day) * Math.max(0.1, 1 + 0.08 * (spread * latency + slow + this.#coldness));
    this.values[3] = Math.min(100, Math.max(0, loadTimes * (this.#cpu * (0.6 + 0.4 * day) + 2 * (spread * cpu + load))));
  }

  /** Each interval may bring a deployment or a restart: the counter begins anew. */
  #deploy(): void {
    this.#coldness *= 0.5 ** this.#minutes;
    const draw = (this.#random.uniform() * DAY_MINUTES) / this.#minutes;
    if (draw < DEPLOYMENTS_A_DAY) this.#coldness = COLD_SD;
    if (draw < DEPLOYMENTS_A_DAY + RESTARTS_A_DAY) this.#sum = 0;
  }
}
