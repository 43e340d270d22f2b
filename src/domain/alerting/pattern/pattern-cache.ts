// Patterns of label matchers that have been used, each made ready once and kept, and what they said of values lately. One for a server: a pattern means the same to
// every tenant.
import {
  PATTERN_RESULT_CHARACTERS_MAX,
  PATTERN_RESULTS_MAX,
  PATTERN_TABLE_BYTES_MAX,
  PATTERNS_RETAINED_MAX,
} from "../../../core/config/pattern-limits.ts";
import { type CompiledPattern, compilePattern, unitsOf } from "./automaton.ts";

/** Bounds that a test may lower. */
export interface PatternCacheOptions {
  readonly tableBytesMax: number;
  readonly patternsMax: number;
  readonly resultsMax: number;
}

const OPTIONS: PatternCacheOptions = {
  tableBytesMax: PATTERN_TABLE_BYTES_MAX,
  patternsMax: PATTERNS_RETAINED_MAX,
  resultsMax: PATTERN_RESULTS_MAX,
};

export class PatternCache {
  readonly #options: PatternCacheOptions;
  /** The one used longest ago first. */
  readonly #patterns = new Map<string, CompiledPattern>();
  /** By value and pattern. */
  readonly #results = new Map<string, Map<string, boolean>>();
  /** The value that was asked about last: others are asked about it next. */
  #last = { value: "", units: unitsOf("") };
  #bytes = 0;
  #resultCount = 0;
  #resultCharacters = 0;
  /** Work that was done: tables made and the instructions visited for them, values looked at and their characters. */
  readonly work = { tables: 0, visits: 0, evaluations: 0, characters: 0 };

  constructor(options: Partial<PatternCacheOptions> = {}) {
    this.#options = { ...OPTIONS, ...options };
  }

  /** Tables that are kept, and results that are remembered. */
  get retained(): { readonly patterns: number; readonly bytes: number; readonly results: number } {
    return { patterns: this.#patterns.size, bytes: this.#bytes, results: this.#resultCount };
  }

  /** Error of a pattern; null where there is none. */
  problem(pattern: string): string | null {
    return this.#compiled(pattern).problem;
  }

  /** Bytes of its table; 0 where it has none. */
  tableBytes(pattern: string): number {
    return this.#compiled(pattern).automaton?.bytes ?? 0;
  }

  /** Whether a pattern matches all of a value; undefined where something is wrong with it. */
  matches(pattern: string, value: string): boolean | undefined {
    const known = this.#results.get(value)?.get(pattern);
    if (known !== undefined) return known;
    const { automaton } = this.#compiled(pattern);
    if (automaton === null) return undefined;
    if (this.#last.value !== value) this.#last = { value, units: unitsOf(value) };
    this.work.evaluations++;
    this.work.characters += value.length;
    const result = automaton.matches(this.#last.units);
    this.#remember(pattern, value, result);
    return result;
  }

  #remember(pattern: string, value: string, result: boolean): void {
    if (this.#resultCount >= this.#options.resultsMax || this.#resultCharacters + value.length > PATTERN_RESULT_CHARACTERS_MAX) {
      this.#results.clear();
      this.#resultCount = 0;
      this.#resultCharacters = 0;
    }
    let results = this.#results.get(value);
    if (results === undefined) {
      results = new Map();
      this.#results.set(value, results);
      this.#resultCharacters += value.length;
    }
    results.set(pattern, result);
    this.#resultCount++;
  }

  #compiled(pattern: string): CompiledPattern {
    const known = this.#patterns.get(pattern);
    if (known !== undefined) {
      // Behind all others.
      this.#patterns.delete(pattern);
      this.#patterns.set(pattern, known);
      return known;
    }
    const compiled = compilePattern(pattern);
    this.work.tables++;
    this.work.visits += compiled.visits;
    this.#patterns.set(pattern, compiled);
    this.#bytes += compiled.automaton?.bytes ?? 0;
    this.#evict();
    return compiled;
  }

  /** The newest stays. */
  #evict(): void {
    const { tableBytesMax, patternsMax } = this.#options;
    for (const [pattern, { automaton }] of this.#patterns) {
      if ((this.#bytes <= tableBytesMax && this.#patterns.size <= patternsMax) || this.#patterns.size === 1) return;
      this.#patterns.delete(pattern);
      this.#bytes -= automaton?.bytes ?? 0;
    }
  }
}
