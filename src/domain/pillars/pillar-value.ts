// One value of a pillar, such as the product "checkout": the sum over its members while they are counted, its history, and its newest score.

import { FAMILIES } from "../series/metric-family.ts";
import { MagnitudeHistory } from "./magnitude-history.ts";

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

/** Score of a pillar value at a tick. */
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

/** Source of members by their numbers. */
export interface MemberSource {
  driver(member: number): Omit<PillarDriver, "contribution">;
}

// Numbers of a count: the mean, then members that pull most with their pulls, the strongest first. Objects would be several megabytes a tick.
const MEMBERS_AT = COORDINATES;
const PULLS_AT = MEMBERS_AT + DRIVERS;
const NUMBERS = PULLS_AT + DRIVERS;

export class PillarValue {
  readonly tenant: string;
  readonly pillar: string;
  readonly value: string;
  readonly history: MagnitudeHistory;
  /** Its number among all values that there are. */
  number = -1;
  /** Services that are mapped to it. */
  members = 0;
  /** Newest observation that is stored. */
  storedMs = 0;
  /** The count under way, and behind it the last one that was finished. */
  readonly #counts = new Float64Array(2 * NUMBERS);
  #evaluated = 0;
  #drivers = 0;
  #magnitude = 0;
  #lastEvaluated = 0;
  #lastDrivers = 0;
  #lastMagnitude = 0;
  #pValue = 1;
  #updatedMs = 0;
  #source: MemberSource | undefined;

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
    this.#drivers = 0;
    this.#counts.fill(0, 0, NUMBERS);
  }

  /** Counts a member, whose deviations begin at `at`; a family that it lacks deviates by nothing. */
  add(vectors: Float32Array, at: number): void {
    this.#evaluated++;
    for (let i = 0; i < COORDINATES; i++) {
      const deviation = vectors[at + i] as number;
      if (!Number.isNaN(deviation)) this.#counts[i] = (this.#counts[i] as number) + deviation;
    }
  }

  /** Once all members are counted. */
  settle(): void {
    let square = 0;
    for (let i = 0; i < COORDINATES; i++) {
      const mean = (this.#counts[i] as number) / Math.max(1, this.#evaluated);
      this.#counts[i] = mean;
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
      if (!Number.isNaN(deviation)) pull += deviation * (this.#counts[i] as number);
    }
    const numbers = this.#counts;
    let index = this.#drivers;
    while (index > 0 && (numbers[PULLS_AT + index - 1] as number) < pull) index--;
    if (index === DRIVERS) return;
    for (const from of [MEMBERS_AT, PULLS_AT]) numbers.copyWithin(from + index + 1, from + index, from + DRIVERS - 1);
    numbers[MEMBERS_AT + index] = member;
    numbers[PULLS_AT + index] = pull;
    this.#drivers = Math.min(DRIVERS, this.#drivers + 1);
  }

  /** Compares the mean with the history, then adds it to that. `source` is asked when the score is read. */
  finish(nowMs: number, source: MemberSource): void {
    this.#counts.copyWithin(NUMBERS, 0, NUMBERS);
    this.#lastEvaluated = this.#evaluated;
    this.#lastDrivers = this.#drivers;
    this.#lastMagnitude = this.#magnitude;
    this.#updatedMs = nowMs;
    this.#source = source;
    if (this.#evaluated === 0) return;
    this.#pValue = this.history.tail(this.#magnitude, nowMs);
    this.history.observe(this.#magnitude, nowMs);
  }

  /** Score of the last tick; undefined before the first. */
  get score(): PillarScore | undefined {
    const source = this.#source;
    if (source === undefined) return undefined;
    const evaluated = this.#lastEvaluated;
    const magnitude = this.#lastMagnitude;
    const whole = magnitude * magnitude * evaluated;
    const drivers = Array.from({ length: this.#lastDrivers }, (_, i) => ({
      ...source.driver(this.#counts[NUMBERS + MEMBERS_AT + i] as number),
      contribution: (this.#counts[NUMBERS + PULLS_AT + i] as number) / whole,
    }));
    return {
      score: this.scoreNumber,
      pValue: evaluated === 0 ? null : this.#pValue,
      magnitude,
      deviations: [...this.#counts.subarray(NUMBERS, NUMBERS + COORDINATES)],
      evaluated,
      drivers,
      updatedMs: this.#updatedMs,
    };
  }

  /** The score alone; null where no member had data or no tick has come. */
  get scoreNumber(): number | null {
    return this.#lastEvaluated === 0 ? null : 1 - this.#pValue;
  }
}
