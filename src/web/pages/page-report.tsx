// How many pages there were, of whom, who took them, and how many a team means to have.
import { useState } from "preact/hooks";
import { noteChange, useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, Empty, Head, Name, Panel, Shown, Tag } from "../parts/basics.tsx";
import { RangePicker, useRange } from "../parts/range-picker.tsx";
import { Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { link } from "../state/route.ts";
import { numberText } from "../view/number-text.ts";
import type { PageReportAnswer } from "../view/shapes.ts";
import { durationText } from "../view/time-text.ts";

type Row = PageReportAnswer["rows"][number];
type Team = PageReportAnswer["teams"][number];

const INITIAL_RANGE = "7d";

export function PageReport() {
  const { since, until } = useRange(INITIAL_RANGE);
  const answer = useAnswer<PageReportAnswer>("GET /api/v1/reports/pages", { query: { since, until } });
  return (
    <>
      <Head title="Paging report" about="How often people were paged, who acknowledged, and each team's budget. A budget drops no page.">
        <RangePicker initial={INITIAL_RANGE} />
      </Head>
      <Shown of={answer}>
        {({ teams, rows, pages, days }) => (
          <>
            <Panel title={`${pages} pages in ${numberText(days)} days`}>
              {teams.length === 0 ? (
                <Empty title="Nobody was paged">
                  A team is the label of a service: <a href={link(["labels"])}>labels</a> set it.
                </Empty>
              ) : (
                <Table label="Teams" rows={teams} keyOf={({ team }) => team} columns={TEAM_COLUMNS} />
              )}
            </Panel>
            {rows.length > 0 && (
              <Panel title="By service">
                <Table label="Services" rows={rows} keyOf={({ team, service_id }) => `${team} ${service_id}`} columns={SERVICE_COLUMNS} />
              </Panel>
            )}
            <NewBudget />
          </>
        )}
      </Shown>
    </>
  );
}

const TEAM_COLUMNS = [
  { head: "Team", show: ({ team }: Team) => (team === "" ? <span class="faint">none</span> : <Name text={team} />) },
  { head: "Pages", isNumber: true, show: ({ pages }: Team) => pages },
  { head: "in the last week", isNumber: true, show: ({ pages_last_week }: Team) => pages_last_week },
  {
    head: "Budget a week",
    show: ({ team, budget, over_budget }: Team) => (
      <span class="row">
        {budget ?? "none"} {over_budget && <Tag tone="high">over budget</Tag>}
        {team !== "" && <SetBudget team={team} budget={budget} />}
      </span>
    ),
  },
];

const SERVICE_COLUMNS = [
  {
    // Pages are counted by service over all its environments, and so are the alerts behind them.
    head: "Service, in all environments",
    show: ({ service_id }: Row) => (
      <a href={link(["alerts"], { service_id, environment: undefined, range: "30d" })}>
        <Name text={service_id} />
      </a>
    ),
  },
  { head: "Team", show: ({ team }: Row) => <Name text={team} /> },
  { head: "Pages", isNumber: true, show: ({ pages }: Row) => pages },
  { head: "a day", isNumber: true, show: ({ per_service_day }: Row) => per_service_day.toFixed(2) },
  { head: "Not notified", isNumber: true, show: (row: Row) => row.not_told },
  {
    head: "Acknowledged",
    isNumber: true,
    show: ({ acknowledged, median_ack_seconds: seconds }: Row) =>
      seconds === null ? acknowledged : `${acknowledged}, half within ${durationText(seconds * 1000)}`,
  },
  { head: "False alarms", isNumber: true, show: ({ false_positives }: Row) => false_positives },
];

async function saveBudget(team: string, text: string): Promise<void> {
  const pages_per_week = text.trim() === "" ? null : Number(text);
  await call("PUT /api/v1/routing/budgets/{team}", { path: { team }, body: { pages_per_week } });
  notify("good", pages_per_week === null ? "Budget removed" : "Saved");
  noteChange();
}

function SetBudget({ team, budget }: { team: string; budget: number | null }) {
  const [text, setText] = useState<string>();
  if (text === undefined) return <Button onClick={() => setText(String(budget ?? ""))}>Edit</Button>;
  return (
    <span class="row">
      <input
        value={text}
        inputMode="decimal"
        size={5}
        aria-label={`Pages a week, budget of ${team}`}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Button tone="main" onClick={() => saveBudget(team, text).then(() => setText(undefined))}>
        Save
      </Button>
    </span>
  );
}

function NewBudget() {
  const [team, setTeam] = useState("");
  const [text, setText] = useState("");
  return (
    <Panel title="Set a budget">
      <div class="row">
        <label class="field">
          <span>Team</span>
          <input value={team} onInput={(event) => setTeam(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Pages a week</span>
          <input value={text} inputMode="decimal" onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <Button tone="main" onClick={() => saveBudget(team.trim(), text)} disabled={team.trim() === ""}>
          Save
        </Button>
      </div>
    </Panel>
  );
}
