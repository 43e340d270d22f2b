// The silences of one tenant, found by what an alert is: each stands under one of the values that it wants (label = value), and is looked at for alerts that have
// that value alone. Those that want no value are looked at for all.
import { compileMatchers, type LabelMatcher, type Labels } from "./label-matcher.ts";
import type { PatternCache } from "./pattern/pattern-cache.ts";
import { forceOf, type Silence } from "./silence.ts";

interface Entry<S> {
  readonly silence: S;
  /** Those that were put first are asked first. */
  readonly number: number;
  /** Where it stands; null among those that want no value. */
  readonly key: LabelMatcher | null;
  readonly isInForce: (nowMs: number) => boolean;
  readonly holds: (labels: Labels) => boolean;
}

export class SilenceIndex<S extends Silence = Silence> {
  readonly #patterns: PatternCache;
  readonly #entries = new Map<string, Entry<S>>();
  /** By label and value. */
  readonly #wanted = new Map<string, Map<string, Set<Entry<S>>>>();
  readonly #others = new Set<Entry<S>>();
  #next = 0;
  /** Silences whose matchers were asked. */
  inspected = 0;

  constructor(patterns: PatternCache) {
    this.#patterns = patterns;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): S | undefined {
    return this.#entries.get(id)?.silence;
  }

  /** In the order in which they were put. */
  *values(): Generator<S> {
    for (const { silence } of this.#entries.values()) yield silence;
  }

  /** One without matchers holds for nothing. */
  put(silence: S): void {
    this.remove(silence.id);
    const key = this.#keyOf(silence.matchers);
    const holds = compileMatchers(silence.matchers, this.#patterns);
    const entry = { silence, number: this.#next++, key, isInForce: forceOf(silence), holds };
    this.#entries.set(silence.id, entry);
    if (silence.matchers.length > 0) this.#bucket(key).add(entry);
  }

  /** Whether it was there. */
  remove(id: string): boolean {
    this.withhold(id);
    return this.#entries.delete(id);
  }

  /** Keeps a silence, but looks at it no more. */
  withhold(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    const bucket = this.#bucket(entry.key);
    bucket.delete(entry);
    if (entry.key !== null && bucket.size === 0) this.#removeBucket(entry.key);
  }

  /** The first silence, in the order in which they were put, that holds for an alert now. */
  find(labels: Labels, nowMs: number): S | undefined {
    let first = this.#firstOf(this.#others, undefined, labels, nowMs);
    for (const [name, value] of Object.entries(labels)) {
      const bucket = this.#wanted.get(name)?.get(value);
      if (bucket !== undefined) first = this.#firstOf(bucket, first, labels, nowMs);
    }
    return first?.silence;
  }

  #firstOf(entries: ReadonlySet<Entry<S>>, before: Entry<S> | undefined, labels: Labels, nowMs: number): Entry<S> | undefined {
    let first = before;
    for (const entry of entries) {
      if ((first !== undefined && entry.number > first.number) || !entry.isInForce(nowMs)) continue;
      this.inspected++;
      if (entry.holds(labels)) first = entry;
    }
    return first;
  }

  /** Key of a silence: of the values that it wants, the one that the fewest others want; null for none. An empty value is that of any alert without the label. */
  #keyOf(matchers: readonly LabelMatcher[]): LabelMatcher | null {
    const wanted = matchers.filter(({ operator, value }) => operator === "=" && value !== "");
    const others = ({ name, value }: LabelMatcher): number => this.#wanted.get(name)?.get(value)?.size ?? 0;
    return wanted.reduce<LabelMatcher | null>((best, each) => (best === null || others(each) < others(best) ? each : best), null);
  }

  #removeBucket({ name, value }: LabelMatcher): void {
    const values = this.#wanted.get(name);
    values?.delete(value);
    if (values?.size === 0) this.#wanted.delete(name);
  }

  #bucket(key: LabelMatcher | null): Set<Entry<S>> {
    if (key === null) return this.#others;
    let values = this.#wanted.get(key.name);
    if (values === undefined) {
      values = new Map();
      this.#wanted.set(key.name, values);
    }
    let bucket = values.get(key.value);
    if (bucket === undefined) {
      bucket = new Set();
      values.set(key.value, bucket);
    }
    return bucket;
  }
}
