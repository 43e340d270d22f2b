// One value of a pillar, such as the product "checkout": the sum over its members while they are counted, its history, and its newest score.

import { MagnitudeHistory } from "./magnitude-history.ts";
import { FAMILIES } from "./metric-family.ts";

/** Members that are named as driving a score. */
const DRIVERS = 5;
const COORDINATES = FAMILIES.length;

/** A service that drives a score. */
export interface PillarDriver {
  readonly serviceId: string;
  /** Share of the mean's length that comes from it; all members' together are 1, those that pull the other way count below 0. */
  readonly contribution: number;
  /** By FAMILIES; null where it has no stream of the family. */
  readonly deviations: ReadonlyArray<number | null>;
}

/** How a pillar value stood at a tick. */
export interface PillarScore {
  /** 1 - p; null where no member had data. */
  readonly score: number | null;
  readonly pValue: number | null;
  /** Length of the members' mean embedding, and its coordinates by FAMILIES. */
  readonly magnitude: number;
  readonly deviations: readonly number[];
  /** Members that had data. */
  readonly evaluated: number;
  readonly drivers: readonly PillarDriver[];
  readonly updatedMs: number;
}

export class PillarValue {
  readonly tenant: string;
  readonly pillar: string;
  readonly value: string;
  readonly history: MagnitudeHistory;
  /** Services that are mapped to it. */
  members = 0;
  /** Undefined before its first tick. */
  score: PillarScore | undefined;
  /** Newest observation that is stored. */
  storedMs = 0;
  #evaluated = 0;
  #magnitude = 0;
  /** Sums of the members' deviations, then their mean. */
  readonly #mean = new Float64Array(COORDINATES);
  #drivers: Array<{ readonly member: number; readonly pull: number }> = [];

  constructor(tenant: string, pillar: string, value: string, history = new MagnitudeHistory()) {
    this.tenant = tenant;
    this.pillar = pillar;
    this.value = value;
    this.history = history;
    this.storedMs = history.lastMs;
  }

  /** Before a count. */
  reset(): void {
    this.#evaluated = 0;
    this.#mean.fill(0);
    this.#drivers = [];
  }

  /** Counts a member, whose deviations begin at `at`; a family that it lacks deviates by nothing. */
  add(vectors: Float32Array, at: number): void {
    this.#evaluated++;
    for (let i = 0; i < COORDINATES; i++) {
      const deviation = vectors[at + i] as number;
      if (!Number.isNaN(deviation)) this.#mean[i] = (this.#mean[i] as number) + deviation;
    }
  }

  /** Once all members are counted. */
  settle(): void {
    let square = 0;
    for (let i = 0; i < COORDINATES; i++) {
      const mean = (this.#mean[i] as number) / Math.max(1, this.#evaluated);
      this.#mean[i] = mean;
      square += mean * mean;
    }
    this.#magnitude = Math.sqrt(square);
  }

  /** Looks whether a member is among those that pull most in the mean's direction. */
  weigh(member: number, vectors: Float32Array, at: number): void {
    if (this.#magnitude === 0) return;
    let pull = 0;
    for (let i = 0; i < COORDINATES; i++) {
      const deviation = vectors[at + i] as number;
      if (!Number.isNaN(deviation)) pull += deviation * (this.#mean[i] as number);
    }
    const least = this.#drivers.at(-1);
    if (this.#drivers.length === DRIVERS && pull <= (least as { pull: number }).pull) return;
    let place = this.#drivers.length;
    while (place > 0 && (this.#drivers[place - 1] as { pull: number }).pull < pull) place--;
    this.#drivers.splice(place, 0, { member, pull });
    if (this.#drivers.length > DRIVERS) this.#drivers.pop();
  }

  /** Compares the mean with the history, then adds it to that. */
  finish(nowMs: number, driverOf: (member: number) => Omit<PillarDriver, "contribution">): void {
    const evaluated = this.#evaluated;
    const magnitude = this.#magnitude;
    const pValue = evaluated === 0 ? null : this.history.tail(magnitude, nowMs);
    const whole = magnitude * magnitude * evaluated;
    this.score = {
      score: pValue === null ? null : 1 - pValue,
      pValue,
      magnitude,
      deviations: [...this.#mean],
      evaluated,
      drivers: this.#drivers.map(({ member, pull }) => ({ ...driverOf(member), contribution: pull / whole })),
      updatedMs: nowMs,
    };
    if (evaluated > 0) this.history.observe(magnitude, nowMs);
    this.#drivers = [];
  }
}
