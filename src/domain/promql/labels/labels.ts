// Labels of a series: names and values ascending by name, no empty value (model/labels of Prometheus). Each set of labels has a key, by which series are found.
import { setMember } from "../../../core/collections/own-member.ts";
import { compareTexts } from "../../../core/text/text-order.ts";
import { quote } from "../parser/quoted-text.ts";
import { labelNameText } from "./label-matcher.ts";

/** The label that holds a metric's name. */
export const METRIC_NAME = "__name__";
/** No well-formed text contains it. */
const SEPARATOR = "\ud800";
const PLAIN_METRIC_NAME = /^[A-Za-z_:][A-Za-z0-9_:]*$/;

/** An immutable set of labels. */
export class Labels {
  /** Name, value, name, value ... */
  readonly #pairs: readonly string[];
  #key: string | undefined;

  private constructor(pairs: readonly string[]) {
    this.#pairs = pairs;
  }

  /** Labels of names and values in any order; empty values do not exist, of two with a name the later counts. */
  static of(entries: Iterable<readonly [name: string, value: string]>): Labels {
    const sorted = [...new Map(entries)].filter(([, value]) => value !== "").sort(([a], [b]) => compareTexts(a, b));
    return new Labels(sorted.flat());
  }

  /** Labels of names and values, one after the other: each name once, ascending, and no empty value. */
  static ofSorted(pairs: readonly string[]): Labels {
    return new Labels(pairs);
  }

  /** A text that is the same for the same labels alone. */
  get key(): string {
    this.#key ??= this.#pairs.join(SEPARATOR);
    return this.#key;
  }

  /** The metric's name; empty where there is none. */
  get metricName(): string {
    return this.get(METRIC_NAME);
  }

  /** A label's value; empty where there is none. */
  get(name: string): string {
    for (let i = 0; i < this.#pairs.length; i += 2) if (this.#pairs[i] === name) return this.#pairs[i + 1] as string;
    return "";
  }

  /** The labels with one set, or taken away by an empty value. */
  with(name: string, value: string): Labels {
    return Labels.of([...this.entries(), [name, value]]);
  }

  /** The labels but those of `names`. */
  without(names: ReadonlySet<string>): Labels {
    return this.#filtered((name) => !names.has(name));
  }

  /** The labels of `names` alone. */
  only(names: ReadonlySet<string>): Labels {
    return this.#filtered((name) => names.has(name));
  }

  /** The labels without the metric's name. */
  withoutMetricName(): Labels {
    return this.get(METRIC_NAME) === "" ? this : this.#filtered((name) => name !== METRIC_NAME);
  }

  #filtered(isWanted: (name: string) => boolean): Labels {
    return new Labels(this.#pairs.filter((_, index) => isWanted(this.#pairs[index - (index % 2)] as string)));
  }

  /** Names and values, ascending by name. */
  *entries(): Iterable<readonly [name: string, value: string]> {
    for (let i = 0; i < this.#pairs.length; i += 2) yield [this.#pairs[i] as string, this.#pairs[i + 1] as string];
  }

  /** As Prometheus' answers have them. */
  toObject(): Record<string, string> {
    const labels: Record<string, string> = {};
    for (let i = 0; i < this.#pairs.length; i += 2) setMember(labels, this.#pairs[i] as string, this.#pairs[i + 1] as string);
    return labels;
  }

  /** As messages say them: {__name__="name", label="value"}. */
  toString(): string {
    return `{${[...this.entries()].map(([label, value]) => `${labelNameText(label)}=${quote(value)}`).join(", ")}}`;
  }

  /** As a query says them: name{label="value"}. */
  get metricText(): string {
    const name = this.metricName;
    const isPlain = PLAIN_METRIC_NAME.test(name);
    const texts = [...this.entries()]
      .filter(([label]) => label !== METRIC_NAME || !isPlain)
      .map(([label, value]) => (label === METRIC_NAME ? quote(value) : `${labelNameText(label)}=${quote(value)}`));
    return texts.length === 0 && isPlain ? name : `${isPlain ? name : ""}{${texts.join(", ")}}`;
  }

  /** The order in which range queries answer: by names and values, one after the other. */
  static compare(a: Labels, b: Labels): number {
    const length = Math.min(a.#pairs.length, b.#pairs.length);
    for (let i = 0; i < length; i++) {
      const order = compareTexts(a.#pairs[i] as string, b.#pairs[i] as string);
      if (order !== 0) return order;
    }
    return a.#pairs.length - b.#pairs.length;
  }
}

/** No labels at all. */
export const NO_LABELS = Labels.of([]);
