// Why a pair of service and metric did or did not page: decisions in a range, or what each layer said of one moment.
import { useAnswer } from "../client/answers.ts";
import { Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { decisionKey, OUTCOME, WHEN, Z_SCORE } from "../parts/decision-columns.tsx";
import { EnvironmentField, InEnvironment } from "../parts/environment.tsx";
import { RangePicker, useRange } from "../parts/range-picker.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { link, route, setQuery } from "../state/route.ts";
import { numberText } from "../view/number-text.ts";
import { gateText } from "../view/reason.ts";
import type { Decision } from "../view/shapes.ts";

interface Layer {
  readonly layer: string;
  readonly state: string;
  readonly reason: string | null;
  readonly declared: boolean;
  readonly value: number | null;
  readonly bar: number | null;
}

interface Moment {
  readonly environment: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly sample_at: string;
  readonly declared: boolean;
  readonly reason: string | null;
  readonly layers: readonly Layer[];
}

interface LedgerAnswer {
  readonly decisions: readonly Decision[];
  readonly moments: readonly Moment[];
  readonly complete: boolean;
}

const INITIAL_RANGE = "1d";

export function Ledger() {
  const { service_id, metric_name, environment, at } = route.value.query;
  const { since, until } = useRange(INITIAL_RANGE);
  const pair = { service_id, metric_name, environment };
  const query = at === undefined ? { ...pair, since, until } : { ...pair, at };
  const answer = useAnswer<LedgerAnswer>(service_id === undefined ? null : "GET /api/v1/alerts/ledger", { query });
  return (
    <>
      <Head
        title="Alert decision log"
        about="Each decision to page or not to page, with the check that decided; for one moment, the result of every layer of detection."
      >
        {at === undefined && <RangePicker initial={INITIAL_RANGE} />}
      </Head>
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
        <SearchField label="Metric, its whole name" name="metric_name" />
        <EnvironmentField />
        <SearchField label="At a moment: 2026-01-31T12:00:00Z" name="at" />
        {at !== undefined && (
          <button type="button" class="button" onClick={() => setQuery({ at: undefined })}>
            Whole range
          </button>
        )}
      </search>
      {service_id === undefined ? (
        <Empty title="Which service?">Name it above, or come here from an anomaly.</Empty>
      ) : (
        <Shown of={answer}>{(ledger) => <Found ledger={ledger} isMoment={at !== undefined} />}</Shown>
      )}
    </>
  );
}

function Found({ ledger, isMoment }: { ledger: LedgerAnswer; isMoment: boolean }) {
  return (
    <>
      {ledger.moments.map((moment) => (
        <MomentPanel moment={moment} key={JSON.stringify([moment.sample_at, moment.environment, moment.attributes])} />
      ))}
      {isMoment && ledger.moments.length === 0 && <Empty title="No sample of the series near that moment" />}
      <Panel title="Decisions">
        {ledger.decisions.length === 0 ? (
          <Empty title="Nothing was decided here">No finding of the series was considered for a page in this time.</Empty>
        ) : (
          <Table
            label="Decisions"
            rows={ledger.decisions}
            keyOf={decisionKey}
            columns={[
              WHEN,
              OUTCOME,
              {
                head: "Metric",
                show: ({ metric_name, anomaly_id }) => (
                  <a href={link(["anomaly", anomaly_id])}>
                    <Name text={metric_name} />
                  </a>
                ),
              },
              { head: "Environment", show: ({ environment }) => <Name text={environment} /> },
              { head: "First check that failed", show: ({ gates }) => gateText(gates.find(({ passed }) => !passed)?.name ?? "none") },
              { head: "Severity", show: ({ severity }) => <Tag tone={severity}>{severity}</Tag> },
              Z_SCORE,
            ]}
          />
        )}
        {!ledger.complete && <p class="faint">There were more; a shorter range shows them.</p>}
      </Panel>
    </>
  );
}

function MomentPanel({ moment }: { moment: Moment }) {
  return (
    <Panel
      title={
        <>
          The sample of <When at={moment.sample_at} />
          <InEnvironment of={moment.environment} />{" "}
          <span class="faint">
            {Object.entries(moment.attributes)
              .map(([name, value]) => `${name}=${String(value)}`)
              .join(" ")}
          </span>
        </>
      }
      aside={
        <Tag tone={moment.declared ? "high" : ""}>
          {moment.declared ? "an anomaly" : "not an anomaly"}
          {moment.reason === null ? "" : `: ${gateText(moment.reason)}`}
        </Tag>
      }
    >
      <Table
        label="Layers"
        rows={moment.layers}
        keyOf={({ layer }) => layer}
        columns={[
          { head: "Layer", show: ({ layer }) => layer.replaceAll("_", " ") },
          { head: "State", show: ({ state }) => <Tag>{state}</Tag> },
          {
            head: "Result",
            show: ({ declared, reason }) =>
              declared ? <Tag tone="high">out of the ordinary</Tag> : (reason ?? "ordinary").replaceAll("_", " "),
          },
          { head: "Value", isNumber: true, show: ({ value }) => (value === null ? "–" : numberText(Number(value.toPrecision(4)))) },
          { head: "Threshold", isNumber: true, show: ({ bar }) => (bar === null ? "–" : numberText(Number(bar.toPrecision(4)))) },
        ]}
      />
    </Panel>
  );
}
