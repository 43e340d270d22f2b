// What a chart says of the moment under the pointer, in words: its time, its value, and what was ordinary then.
import type { ChartPoint } from "./chart-columns.ts";
import { numberText } from "./number-text.ts";
import { fullTime } from "./time-text.ts";

/** The words; "" where nothing is at the place, which is that of a point. */
export function pointerText(points: readonly ChartPoint[], atMs: number | null, unit: string, zone: string): string {
  const point = atMs === null ? undefined : nearest(points, atMs);
  if (point === undefined) return "";
  const of = (number: number) => (unit === "" ? numberText(number) : `${numberText(number)} ${unit}`);
  const { value, expected, lower, upper } = point;
  const said = value !== null ? of(value) : expected !== null ? `expected ${of(expected)}` : "no value";
  const ordinary = lower === null || upper === null ? "" : `, ordinary ${numberText(lower)} to ${numberText(upper)}`;
  return `${fullTime(point.atMs, zone)}: ${said}${ordinary}`;
}

function nearest(points: readonly ChartPoint[], atMs: number): ChartPoint | undefined {
  let best: ChartPoint | undefined;
  for (const point of points) if (best === undefined || Math.abs(point.atMs - atMs) < Math.abs(best.atMs - atMs)) best = point;
  return best;
}
