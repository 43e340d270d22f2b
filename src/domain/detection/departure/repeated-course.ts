// One of two courses that repeat and are added up: its period, when that begins, and the heights of its parts.
import { DAY_MS } from "../../../core/time/durations.ts";

const PARTS = 24; // of a period
const PERIOD_MS = 0;
const BEGINNING = 1; // a time at which it begins
export const COURSE_DOUBLES = 2;
/** The octave whose rises it follows, counted from 1, periods seen, between its highest and its lowest part, and the parts. */
const OCTAVE = 0;
const CYCLES = 1;
const SWING = 2;
const FIRST_PART = 3;
export const COURSE_SINGLES = FIRST_PART + PARTS;

/** A rise moves the beginning of the period by so much of what it is off, and the period itself: a loop of the second order, in which the noise of rises averages out. */
const PHASE_WEIGHT = 0.05;
/** Until then by so much of the mean of all rises so far: the first ones are of a period that was not known as well. */
const NEWER_WEIGHT = 1.5;
const PERIOD_WEIGHT = 0.002;
const FOLLOWED_CYCLES_MIN = 4;
/** Of what it is off no more than so much of a period counts. */
const PHASE_MAX = 0.15;
const PART_WEIGHT = 0.04;
/** An edge may lie so many parts away, and is where the parts there differ by so much of the swing. */
const REACH = 0.85;
const EDGE_SHARE = 0.3;

/** Over caller-owned state of COURSE_DOUBLES and COURSE_SINGLES numbers, all 0 at the start. */
export class RepeatedCourse {
  readonly #doubles: Float64Array;
  readonly #singles: Float32Array;
  /** Between what the course lies around the time that was asked for: one height, but at an edge. */
  low = 0;
  high = 0;
  /** From the times that it is asked for to those by the clock on the wall, which the course of a day goes by. */
  clockOffsetMs = 0;

  constructor(doubles: Float64Array, singles: Float32Array) {
    this.#doubles = doubles;
    this.#singles = singles;
  }

  /** In ms; 0 for none. */
  get periodMs(): number {
    return this.#doubles[PERIOD_MS] as number;
  }

  get cycles(): number {
    return this.#singles[CYCLES] as number;
  }

  get swing(): number {
    return this.#singles[SWING] as number;
  }

  /** The octave that it follows; -1 where its period is that of the day. */
  get octave(): number {
    return (this.#singles[OCTAVE] as number) - 1;
  }

  /** Begins with a period; of no octave (-1) with that of the day. */
  begin(octave: number, periodMs: number, beginningMs: number): void {
    this.#singles.fill(0);
    this.#singles[OCTAVE] = octave + 1;
    this.#doubles[PERIOD_MS] = octave < 0 ? DAY_MS : periodMs;
    this.#doubles[BEGINNING] = octave < 0 ? 0 : beginningMs;
  }

  clear(): void {
    this.#singles.fill(0);
    this.#doubles.fill(0);
  }

  copy(other: RepeatedCourse): void {
    this.#singles.set(other.#singles);
    this.#doubles.set(other.#doubles);
  }

  forecast(timeMs: number): void {
    const at = this.#phase(timeMs) * PARTS;
    const middle = this.#between(at);
    const before = this.#between(at - REACH);
    const after = this.#between(at + REACH);
    const least = Math.min(before, middle, after);
    const most = Math.max(before, middle, after);
    const isEdge = most - least > EDGE_SHARE * this.swing;
    this.low = isEdge ? least : middle;
    this.high = isEdge ? most : middle;
  }

  /** Height of the part that a time belongs to. */
  heightAt(timeMs: number): number {
    return this.#singles[this.#partAt(timeMs)] as number;
  }

  /** Takes its share of what is left of a value; what is left then. */
  learn(timeMs: number, off: number, intervalMs: number): number {
    const singles = this.#singles;
    const cycles = this.cycles + intervalMs / this.periodMs;
    singles[CYCLES] = cycles;
    const valuesOfPart = (cycles * this.periodMs) / (PARTS * intervalMs);
    const move = Math.max(PART_WEIGHT, 1 / (2 + valuesOfPart)) * off;
    const at = this.#partAt(timeMs);
    singles[at] = (singles[at] as number) + move;
    return off - move;
  }

  /** Moves towards a rise of its octave, which comes where a period begins. */
  follow(timeMs: number): void {
    const period = this.periodMs;
    const beginning = this.#doubles[BEGINNING] as number;
    const periods = Math.round((timeMs - beginning) / period);
    if (periods < 1) return;
    const off = Math.max(-PHASE_MAX * period, Math.min(PHASE_MAX * period, timeMs - beginning - periods * period));
    const cycles = Math.max(FOLLOWED_CYCLES_MIN, this.cycles);
    this.#doubles[BEGINNING] = beginning + periods * period + Math.max(PHASE_WEIGHT, NEWER_WEIGHT / cycles) * off;
    this.#doubles[PERIOD_MS] = period + Math.max(PERIOD_WEIGHT, 1 / cycles ** 2) * off;
  }

  learnSwing(): void {
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let at = FIRST_PART; at < COURSE_SINGLES; at++) {
      least = Math.min(least, this.#singles[at] as number);
      most = Math.max(most, this.#singles[at] as number);
    }
    this.#singles[SWING] = most - least;
  }

  #phase(timeMs: number): number {
    const clockMs = this.octave < 0 ? timeMs + this.clockOffsetMs : timeMs;
    const at = (clockMs - (this.#doubles[BEGINNING] as number)) / this.periodMs;
    return at - Math.floor(at);
  }

  #partAt(timeMs: number): number {
    return FIRST_PART + Math.min(PARTS - 1, Math.floor(this.#phase(timeMs) * PARTS));
  }

  /** Between the middles of two parts. */
  #between(at: number): number {
    const from = Math.floor(at - 0.5);
    const share = at - 0.5 - from;
    return (1 - share) * this.#height(from) + share * this.#height(from + 1);
  }

  #height(part: number): number {
    return this.#singles[FIRST_PART + (part < 0 ? part + PARTS : part >= PARTS ? part - PARTS : part)] as number;
  }
}
