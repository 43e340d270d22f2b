// The range of time that a page shows, in its address.
import { now, route, setQuery, zone } from "../state/route.ts";
import { fixedQuery, RANGES, type Range, rangeEnds, rangeOf, routeLink } from "../view/location.ts";
import { durationText, shortTime } from "../view/time-text.ts";
import { Button, copyText } from "./basics.tsx";

/** The ends of the range of the address, to the half minute, so that what is asked does not change each second. */
export function useRange(initial: string): { range: Range; fromMs: number; toMs: number; since: string; until: string } {
  const range = rangeOf(route.value.query, initial);
  const stepMs = 30_000;
  const { fromMs, toMs } = rangeEnds(range, Math.ceil(now.value / stepMs) * stepMs);
  return { range, fromMs, toMs, since: new Date(fromMs).toISOString(), until: new Date(toMs).toISOString() };
}

/** Chooses the range, and copies a link that holds it still. */
export function RangePicker({ initial }: { initial: string }) {
  const range = rangeOf(route.value.query, initial);
  const chosen = range.kind === "last" ? (route.value.query.range ?? initial) : "fixed";
  const choose = (value: string) => {
    if (value !== "fixed") setQuery({ range: value === initial ? undefined : value, from: undefined, to: undefined });
  };
  const copyLink = () => {
    const fixed = fixedQuery(route.value.query, initial, now.value);
    return copyText(`${location.origin}${location.pathname}${routeLink(route.value.path, { ...fixed, tz: zone.value })}`);
  };
  return (
    <div class="row">
      <label>
        <span class="unseen">Range of time</span>
        <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
          {RANGES.map((text) => (
            <option value={text} key={text}>
              last {text}
            </option>
          ))}
          {range.kind === "fixed" && (
            <option value="fixed">
              {shortTime(range.fromMs, now.value, zone.value)} to {shortTime(range.toMs, now.value, zone.value)} (
              {durationText(range.toMs - range.fromMs)})
            </option>
          )}
        </select>
      </label>
      <Button icon="copy" tone="quiet" label="Copy a link that shows the same later" onClick={copyLink} />
    </div>
  );
}
