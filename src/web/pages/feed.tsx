// The feed of anomalies: folded by alert and burst, filtered by the server, live.
// Counts by severity over time; a bar leads to its part of the range. The figures stand in each bar's name.
import { AnomalyItem } from "../parts/anomaly-item.tsx";
import { Button, Empty, FreshButton, Head, Shown } from "../parts/basics.tsx";
import { Choice } from "../parts/choice.tsx";
import { type LiveList, useLiveList } from "../parts/live-list.ts";
import { LongList, ReadsOn } from "../parts/long-list.tsx";
import { RangePicker, useRange } from "../parts/range-picker.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { link, now, route, setQuery, zone } from "../state/route.ts";
import { feedRows, singleRows } from "../view/feed.ts";
import { routeLink } from "../view/location.ts";
import { plural } from "../view/number-text.ts";
import type { Anomaly } from "../view/shapes.ts";
import { shortTime } from "../view/time-text.ts";

const INITIAL_RANGE = "1d";
const ROWS = 200;
/** Height of an item with two lines. */
const ITEM_PX = 66;
const FILTERS = ["q", "service_id", "metric_name", "environment", "severity", "state", "detector"] as const;

export function Feed() {
  const { query } = route.value;
  const { since, until, fromMs, toMs, range } = useRange(INITIAL_RANGE);
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query[name]]));
  const list = useLiveList<Anomaly>({
    key: "GET /api/v1/anomalies",
    call: {
      query: {
        ...filters,
        sort: query.sort,
        since,
        until: range.kind === "fixed" ? until : undefined,
        limit: ROWS,
        view: "list",
        buckets: 48,
      },
    },
    member: "anomalies",
    event: "anomaly",
    idOf: ({ anomaly_id }) => anomaly_id,
    matches: (one) => range.kind === "last" && matchesFilters(one, query),
  });
  const rows = query.each === undefined ? feedRows(list.rows) : singleRows(list.rows);
  const ordered = query.sort === "score" ? [...rows].sort((a, b) => b.worst.anomaly_score - a.worst.anomaly_score) : rows;
  return (
    <>
      <Head title="Anomalies" about="What departed from its usual values, those of one incident in one row.">
        <RangePicker initial={INITIAL_RANGE} />
      </Head>
      <Filters />
      <FreshButton count={list.fresh} onShow={list.showFresh} />
      <Shown of={list.answer as typeof list.answer & { data: FeedAnswer | undefined }} rows={8}>
        {(data) => (
          <>
            {data.counts !== undefined && data.total > 0 && (
              <section class="panel" aria-label="Anomalies over time">
                <Histogram bars={data.counts.buckets} fromMs={fromMs} toMs={toMs} />
              </section>
            )}
            <section class="panel flush" aria-label="Anomalies">
              {rows.length === 0 ? (
                <NothingFound />
              ) : (
                <LongList rows={ordered} rowPx={ITEM_PX} show={(row) => <AnomalyItem row={row} key={row.key} />} />
              )}
            </section>
            <ReadsOn hasMore={list.hasMore} readOn={list.readOn} />
            <More of={list} />
          </>
        )}
      </Shown>
    </>
  );
}

interface FeedAnswer {
  readonly total: number;
  readonly counts?: { readonly buckets: ReadonlyArray<{ start: string; low: number; medium: number; high: number }> };
}

/** The filters of the address, for what comes by the stream. */
function matchesFilters(one: Anomaly, query: Readonly<Record<string, string>>): boolean {
  const text = (query.q ?? "").toLowerCase();
  if (text !== "" && !`${one.service_id}\n${one.metric_name}`.toLowerCase().includes(text)) return false;
  if (query.state !== undefined && (query.state === "open") === one.resolved) return false;
  return (["service_id", "metric_name", "environment", "severity", "detector"] as const).every(
    (name) => query[name] === undefined || query[name] === one[name],
  );
}

function Filters() {
  const { query } = route.value;
  const chosen = FILTERS.filter((name) => name !== "q" && name !== "severity" && name !== "state" && query[name] !== undefined);
  return (
    <search class="filters">
      <SearchField label="Find by service or metric" />
      <Choice name="severity" label="Severity" choices={["high", "medium", "low"]} />
      <Choice name="state" label="State" choices={["open", "resolved"]} />
      <Choice name="sort" label="Order" choices={["score", "oldest"]} any="newest first" />
      {query.each !== undefined && (
        <button type="button" class="button" onClick={() => setQuery({ each: undefined })}>
          one by one ×
        </button>
      )}
      {chosen.map((name) => (
        <button type="button" class="button" key={name} onClick={() => setQuery({ [name]: undefined })}>
          {name.replace("_", " ")}: <bdi>{query[name] === "" ? "none" : query[name]}</bdi> ×
        </button>
      ))}
    </search>
  );
}

function NothingFound() {
  const { query } = route.value;
  const isFiltered = FILTERS.some((name) => query[name] !== undefined);
  return isFiltered ? (
    <Empty title="No anomaly matches">
      <a href={link(["anomalies"])}>Show all of them</a>, or choose a longer range.
    </Empty>
  ) : (
    <Empty title="Nothing out of the ordinary in this range">
      Every sample is judged as it comes. A series needs 12 samples before it can be judged; <a href={link(["system"])}>coverage</a> says
      which are, and <a href={link(["send"])}>sending telemetry</a> takes one line.
    </Empty>
  );
}

function More({ of: { rows, total, hasMore, readOn } }: { of: LiveList<Anomaly> }) {
  return (
    <p class="faint row">
      {rows.length < total ? `${rows.length} of ` : ""}
      {plural(total, "anomaly", "anomalies")} in this range.
      {hasMore && <Button onClick={readOn}>Show more</Button>}
      {!hasMore && rows.length < total && "A shorter range or a filter shows the others."}
    </p>
  );
}

interface Bucket {
  readonly start: string;
  readonly low: number;
  readonly medium: number;
  readonly high: number;
}

function Histogram({ bars, fromMs, toMs }: { bars: readonly Bucket[]; fromMs: number; toMs: number }) {
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
            <a href={routeLink(route.value.path, { ...route.value.query, ...ends })} key={bar.start} title={text} aria-label={text}>
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

interface Bar {
  readonly low: number;
  readonly medium: number;
  readonly high: number;
}

function barTotal({ low, medium, high }: Bar): number {
  return low + medium + high;
}
