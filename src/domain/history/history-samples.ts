// Lists of [time, value] in JSON: those of plain series, with times in milliseconds and, of counters, perhaps when counting began, and those of Prometheus, with times in seconds.
import { numberOfText } from "./decimal.ts";
import type { HistoryCollector, HistoryName } from "./history-collector.ts";

/** Unit of the times, in ms. Prometheus' are seconds whose fraction says the millisecond, give or take the rounding of a double. */
export type TimeUnitMs = 1 | 1000;

/** Milliseconds since 1970 of a time in that unit. */
export function sampleTimeMs(time: number, unitMs: TimeUnitMs): number {
  return unitMs === 1 ? Math.floor(time) : Math.round(time * unitMs);
}

/** A number that JSON holds as such or as its text; undefined for anything else. */
export function numberOfJson(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" ? numberOfText(value) : undefined;
}

/** Adds the samples of one series; what is none is refused with its place in the list. */
export function readSamples(
  name: HistoryName,
  samples: readonly unknown[],
  source: { readonly unitMs: TimeUnitMs; readonly key: string },
  collector: HistoryCollector,
): void {
  const { unitMs, key } = source;
  const series = collector.find(name, () => key, samples.length);
  if (series === undefined) return;
  samples.forEach((sample, index) => {
    const at = () => `${key}, sample ${index}`;
    const [time, text, start] = Array.isArray(sample) ? (sample as unknown[]) : [];
    const value = numberOfJson(text);
    if (typeof time !== "number" || value === undefined) {
      collector.refuse(at, "invalid_record", "a sample is [time, value], the value a number or the text of one in decimal digits");
    } else collector.add(series, sampleTimeMs(time, unitMs), value, at, typeof start === "number" && unitMs === 1 ? Math.floor(start) : 0);
  });
}
