// Counts by severity over time; a bar leads to its part of the range. The figures stand in each bar's name.
import { now, place, zone } from "../state/place.ts";
import { placeLink } from "../view/location.ts";
import { shortTime } from "../view/time-text.ts";

interface Bucket {
  readonly start: string;
  readonly low: number;
  readonly medium: number;
  readonly high: number;
}

export function Histogram({ bars, fromMs, toMs }: { bars: readonly Bucket[]; fromMs: number; toMs: number }) {
  const most = Math.max(1, ...bars.map(barTotal));
  const widthMs = bars.length < 2 ? toMs - fromMs : Date.parse(bars[1]?.start ?? "") - Date.parse(bars[0]?.start ?? "");
  const time = (ms: number) => shortTime(ms, now.value, zone.value);
  return (
    <>
      <div class="histogram">
        {bars.map((bar) => {
          const startMs = Date.parse(bar.start);
          const ends = { from: bar.start, to: new Date(startMs + widthMs).toISOString(), range: undefined };
          const text = `${time(startMs)}: ${bar.high} high, ${bar.medium} medium, ${bar.low} low`;
          return (
            <a href={placeLink(place.value.path, { ...place.value.query, ...ends })} key={bar.start} title={text} aria-label={text}>
              {(["low", "medium", "high"] as const).map((severity) => (
                <i class={severity} key={severity} style={{ height: `${(bar[severity] / most) * 100}%` }} />
              ))}
            </a>
          );
        })}
      </div>
      <div class="axis">
        <span>{time(fromMs)}</span>
        <span>{time(toMs)}</span>
      </div>
    </>
  );
}

// Counts over time, as bars.

/** One bar. */
interface Bar {
  readonly low: number;
  readonly medium: number;
  readonly high: number;
}

/** All of a bar. */
function barTotal({ low, medium, high }: Bar): number {
  return low + medium + high;
}
