// Telemetry as it came: logs, events, traces, SLOs, profiles, and values.
import { Empty, Head, Name, Shown, Tag, When } from "../parts/basics.tsx";
import { Choice } from "../parts/choice.tsx";
import { EnvironmentField } from "../parts/environment.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { RangePicker, useRange } from "../parts/range-picker.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { route } from "../state/route.ts";
import { numberText } from "../view/number-text.ts";

interface StoredRecord {
  readonly service_id: string;
  readonly environment?: string;
  readonly type: string;
  readonly metric_name?: string;
  readonly value?: number;
  readonly body?: string;
  readonly timestamp: string;
  readonly record_id?: string;
}

const INITIAL_RANGE = "6h";

export function Records() {
  const { service_id, environment, type, trace_id } = route.value.query;
  const { since, until } = useRange(INITIAL_RANGE);
  const list = usePages<StoredRecord>(
    "GET /api/v1/records",
    { query: { service_id, environment, type, trace_id, since, until, limit: 100 } },
    "records",
  );
  return (
    <>
      <Head title="Logs, traces and events" about="Telemetry as it came, newest first.">
        <RangePicker initial={INITIAL_RANGE} />
      </Head>
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
        <EnvironmentField />
        <Choice name="type" label="Type" choices={["log", "event", "trace", "slo", "profile", "metric"]} />
        <SearchField label="Trace" name="trace_id" />
      </search>
      <Shown of={list.answer}>
        {() => (
          <section class="panel flush" aria-label="Logs, traces and events">
            {list.rows.length === 0 ? (
              <Empty title="No record in this range" />
            ) : (
              <Table
                label="Logs, traces and events"
                rows={list.rows}
                keyOf={(row) => row.record_id ?? `${row.timestamp} ${row.service_id} ${row.metric_name} ${row.value}`}
                columns={[
                  { head: "When", isTight: true, show: ({ timestamp }) => <When at={timestamp} /> },
                  { head: "Type", isTight: true, show: ({ type: of }) => <Tag>{of}</Tag> },
                  { head: "Service", show: ({ service_id: id }) => <Name text={id} /> },
                  { head: "Environment", show: ({ environment: of }) => <Name text={of ?? ""} /> },
                  { head: "What", show: (row) => <What record={row} /> },
                ]}
              />
            )}
          </section>
        )}
      </Shown>
      <MoreRows of={list} noun="records" />
    </>
  );
}

function What({ record }: { record: StoredRecord }) {
  const { metric_name, value, body } = record;
  return (
    <details>
      <summary>
        <bdi>{body ?? `${metric_name ?? ""} ${value === undefined ? "" : numberText(value)}`}</bdi>
      </summary>
      <pre>{JSON.stringify(record, null, 1)}</pre>
    </details>
  );
}
