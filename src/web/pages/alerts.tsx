// What people are or were told of, filtered by the server, live; several can be acted on at once.
import { useState } from "preact/hooks";
import { AlertActions } from "../parts/alert-actions.tsx";
import { AlertRow } from "../parts/alert-row.tsx";
import { Button, Empty, FreshButton, Head, Shown } from "../parts/basics.tsx";
import { Choice } from "../parts/choice.tsx";
import { EnvironmentField } from "../parts/environment.tsx";
import { useLiveList } from "../parts/live-list.ts";
import { LongList, ReadsOn } from "../parts/long-list.tsx";
import { RangePicker, useRange } from "../parts/range-picker.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { link, route } from "../state/route.ts";
import { plural } from "../view/number-text.ts";
import type { Alert } from "../view/shapes.ts";

const INITIAL_RANGE = "7d";
const ROWS = 200;
/** Height of an item with three lines. */
const ITEM_PX = 92;

export function Alerts() {
  const { query } = route.value;
  const { since, until, range } = useRange(INITIAL_RANGE);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { q, state, severity, team, acknowledged, service_id, environment } = query;
  const list = useLiveList<Alert>({
    key: "GET /api/v1/alerts",
    call: {
      query: {
        ...{ q, state, severity, team, acknowledged, service_id, environment, since },
        until: range.kind === "fixed" ? until : undefined,
        limit: ROWS,
      },
    },
    member: "alerts",
    event: "alert",
    idOf: ({ alert_id }) => alert_id,
    matches: (alert) => range.kind === "last" && matchesAlert(alert, query),
  });
  const picked = list.rows.filter(({ alert_id }) => chosen.has(alert_id));
  const choose = (id: string) => (isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <>
      <Head title="Alerts" about="One row an incident: who was notified, and what is on hold with its reason.">
        <a class="button" href={link(["silences"])}>
          Silences
        </a>
        <RangePicker initial={INITIAL_RANGE} />
      </Head>
      <Filters />
      {picked.length > 0 && <Bulk chosen={picked} onDone={() => setChosen(new Set())} />}
      <FreshButton count={list.fresh} onShow={list.showFresh} />
      <Shown of={list.answer} rows={8}>
        {({ total }) => (
          <>
            <section class="panel flush" aria-label="Alerts">
              {list.rows.length === 0 ? (
                <Empty title="No alert in this range">
                  Anomalies that need no notification stand in <a href={link(["anomalies"])}>their list</a>.
                </Empty>
              ) : (
                <LongList
                  rows={list.rows}
                  rowPx={ITEM_PX}
                  show={(alert) => (
                    <AlertRow alert={alert} key={alert.alert_id} isChosen={chosen.has(alert.alert_id)} onChoose={choose(alert.alert_id)} />
                  )}
                />
              )}
            </section>
            <ReadsOn hasMore={list.hasMore} readOn={list.readOn} />
            <p class="faint">
              {list.rows.length < total ? `The newest ${list.rows.length} of ` : ""}
              {plural(total, "alert", "alerts")}
            </p>
          </>
        )}
      </Shown>
    </>
  );
}

function Filters() {
  return (
    <search class="filters">
      <SearchField label="Find by service or metric" />
      <Choice name="state" label="State" choices={["firing", "resolved"]} />
      <Choice name="severity" label="Severity" choices={["high", "medium", "low"]} />
      <Choice name="acknowledged" label="Acknowledged" choices={["true", "false"]} />
      <SearchField label="Team" name="team" />
      <EnvironmentField />
    </search>
  );
}

function matchesAlert(alert: Alert, query: Readonly<Record<string, string>>): boolean {
  const text = (query.q ?? "").toLowerCase();
  if (text !== "" && !`${alert.service_id} ${alert.labels.metric_name ?? ""}`.toLowerCase().includes(text)) return false;
  if (query.acknowledged !== undefined && (query.acknowledged === "true") !== (alert.acknowledged_by !== null)) return false;
  return (
    (["state", "severity", "service_id", "environment"] as const).every(
      (name) => query[name] === undefined || query[name] === alert[name],
    ) && query.team === undefined
  );
}

function Bulk({ chosen, onDone }: { chosen: readonly Alert[]; onDone: () => void }) {
  return (
    <div class="note row" role="status">
      {plural(chosen.length, "alert", "alerts")} chosen
      <AlertActions alerts={chosen} onDone={onDone} />
      <Button tone="quiet" onClick={onDone}>
        Choose none
      </Button>
    </div>
  );
}
