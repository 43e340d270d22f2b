// Native histograms as tests of rules write them, {{schema:1 count:3 buckets:[1 2]}}. They are not stored here; a test may select them by their name alone.
import { SeriesDescriptionError } from "../../promql/series-description.ts";

type Member = string | readonly number[];

/** A histogram by the members that were written. */
export type NativeHistogram = ReadonlyMap<string, Member>;

const LISTS: ReadonlySet<string> = new Set(["buckets", "n_buckets", "custom_values"]);
const NUMBERS: ReadonlySet<string> = new Set(["schema", "sum", "count", "z_bucket", "z_bucket_w", "offset", "n_offset"]);
/** Members that grow where histograms are added. */
const ADDED = ["sum", "count", "z_bucket", "buckets", "n_buckets"] as const;
const MEMBER = /\s*([a-z_]+):(?:\[([^\]]*)\]|(\S+))/y;
/** The order in which Prometheus writes members. */
const ORDER = [
  "schema",
  "count",
  "sum",
  "z_bucket",
  "z_bucket_w",
  "custom_values",
  "counter_reset_hint",
  "offset",
  "buckets",
  "n_offset",
  "n_buckets",
] as const;

/** Reads what stands between the braces. Throws SeriesDescriptionError. */
export function parseHistogram(text: string): NativeHistogram {
  const inner = /^\{\{(.*)\}\}$/s.exec(text)?.[1];
  if (inner === undefined) throw new SeriesDescriptionError(`no histogram: ${text}`);
  const members = new Map<string, Member>();
  let at = 0;
  while (inner.slice(at).trim() !== "") {
    MEMBER.lastIndex = at;
    const found = MEMBER.exec(inner);
    if (found === null) throw new SeriesDescriptionError(`bad histogram descriptor found: ${inner.slice(at).trim()}`);
    const [, name = "", list, value = ""] = found;
    if (LISTS.has(name) && list !== undefined) members.set(name, list.trim().split(/\s+/).filter(Boolean).map(Number));
    else if ((NUMBERS.has(name) || name === "counter_reset_hint") && list === undefined) members.set(name, value);
    else throw new SeriesDescriptionError(`bad histogram descriptor found: ${name}`);
    at = MEMBER.lastIndex;
  }
  return members;
}

/** The sum of two histograms of one schema, or their difference. */
export function addHistograms(a: NativeHistogram, b: NativeHistogram, sign: 1 | -1): NativeHistogram {
  const sum = new Map(a);
  for (const name of ADDED) {
    const added = b.get(name);
    if (added === undefined) continue;
    const known = sum.get(name);
    if (typeof added === "string") sum.set(name, String(Number(known ?? 0) + sign * Number(added)));
    else sum.set(name, addLists((known as readonly number[] | undefined) ?? [], added, sign));
  }
  return sum;
}

function addLists(a: readonly number[], b: readonly number[], sign: 1 | -1): number[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, index) => (a[index] ?? 0) + sign * (b[index] ?? 0));
}

/** Whether a histogram continues the one before as a counter does: nothing is less. */
export function isIncrease(before: NativeHistogram, after: NativeHistogram): boolean {
  const size = (histogram: NativeHistogram) => Number(histogram.get("count") ?? 0);
  const buckets = (histogram: NativeHistogram, name: string) => (histogram.get(name) as readonly number[] | undefined) ?? [];
  return (
    size(after) >= size(before) &&
    ["buckets", "n_buckets"].every((name) => buckets(before, name).every((count, index) => (buckets(after, name)[index] ?? 0) >= count))
  );
}

/** The canonical text of a histogram; members that say nothing are left out. */
export function histogramText(histogram: NativeHistogram): string {
  const texts = ORDER.flatMap((name) => {
    const member = histogram.get(name);
    if (member === undefined) return [];
    if (typeof member !== "string") return member.length === 0 ? [] : [`${name}:[${member.join(" ")}]`];
    if (name === "counter_reset_hint") return member === "unknown" ? [] : [`${name}:${member}`];
    return Number(member) === 0 ? [] : [`${name}:${Number(member)}`];
  });
  return `{{${texts.join(" ")}}}`;
}
