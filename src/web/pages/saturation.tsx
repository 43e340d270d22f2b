// Capacity: what nears its limit, and when; limits are set here, beside what they are for.
import { call } from "../client/client.ts";
import { Empty, Head, Name, Panel, SeverityMark, Shown, Tag, When } from "../parts/basics.tsx";
import { Choice } from "../parts/choice.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { EnvironmentField, InEnvironment } from "../parts/environment.tsx";
import { LimitForm } from "../parts/limit-form.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { link, route } from "../state/route.ts";
import { numberText } from "../view/number-text.ts";

interface Fire {
  readonly fire_id: string;
  readonly state: string;
  readonly service_id: string;
  readonly environment: string;
  readonly metric_name: string;
  readonly instance: string | null;
  readonly tier: "low" | "medium" | "high";
  readonly value: number;
  readonly limit: number;
  readonly unit: string | null;
  readonly projected_at: string | null;
  readonly explanation: string;
}

interface Limit {
  readonly service_id: string | null;
  readonly metric: string;
  readonly limit_value: number;
  readonly unit: string | null;
  readonly updated_at: string;
}

export function Saturation() {
  const { service_id, environment, state } = route.value.query;
  const fires = usePages<Fire>("GET /api/v1/saturation/fires", { query: { service_id, environment, state, limit: 100 } }, "fires", 30_000);
  return (
    <>
      <Head title="Capacity" about="What nears its limit, and when it will be full if it goes on so." />
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
        <EnvironmentField />
        <Choice name="state" label="State" choices={["firing", "resolved"]} />
      </search>
      <Shown of={fires.answer}>
        {() => (
          <section class="panel flush" aria-label="Fires">
            {fires.rows.length === 0 ? (
              <Empty title="Nothing is near its limit">
                Metrics whose names or units say a limit are watched once they have some values; others once you declare a limit below. What
                is still learning is judged later: <a href={link(["system"])}>coverage</a> says what is.
              </Empty>
            ) : (
              <Table label="Capacity" rows={fires.rows} keyOf={({ fire_id }) => fire_id} columns={FIRE_COLUMNS} />
            )}
          </section>
        )}
      </Shown>
      <MoreRows of={fires} noun="findings" />
      <Limits />
    </>
  );
}

const FIRE_COLUMNS = [
  { head: "Severity", isTight: true, show: ({ tier }: Fire) => <SeverityMark severity={tier} /> },
  {
    head: "What",
    show: ({ service_id, environment, metric_name, instance }: Fire) => (
      <a href={link(["service", service_id], { environment, metric: metric_name })}>
        <Name text={service_id} /> <span class="faint">·</span> <Name text={metric_name} />
        {instance !== null && <span class="faint"> on {instance}</span>}
        <InEnvironment of={environment} />
      </a>
    ),
  },
  {
    head: "Full",
    show: ({ value, limit, unit, tier }: Fire) => (
      <div class="stack-tight">
        <span class={`meter ${tier}`}>
          <i style={{ width: `${Math.min(100, Math.max(0, (value / limit) * 100))}%` }} />
        </span>
        <span class="faint num">
          {numberText(Number(value.toPrecision(4)))} of {numberText(limit)} {unit ?? ""}
        </span>
      </div>
    ),
  },
  { head: "Projected full", isTight: true, show: ({ projected_at }: Fire) => <When at={projected_at} /> },
  { head: "State", isTight: true, show: ({ state }: Fire) => <Tag tone={state === "firing" ? "medium" : "good"}>{state}</Tag> },
  { head: "Why", show: ({ explanation }: Fire) => <span class="soft">{explanation}</span> },
  {
    head: "",
    show: ({ service_id, environment, metric_name }: Fire) => (
      <a href={link(["saturation"], { service_id, environment, metric: metric_name, new: "1" })}>Set another limit</a>
    ),
  },
];

function Limits() {
  const list = usePages<Limit>("GET /api/v1/saturation/limits", { query: { limit: 100 } }, "limits");
  return (
    <Panel title="Limits">
      <details open={route.value.query.new !== undefined}>
        <summary>Set a limit</summary>
        <LimitForm
          initial={{ service_id: route.value.query.service_id, metric: route.value.query.metric }}
          key={JSON.stringify(route.value.query)}
        />
      </details>
      <Shown of={list.answer} rows={3}>
        {() =>
          list.rows.length === 0 ? (
            <Empty title="No limit is set" />
          ) : (
            <Table
              label="Limits"
              rows={list.rows}
              keyOf={({ service_id, metric }) => `${service_id} ${metric}`}
              columns={[
                { head: "Service", show: ({ service_id }) => (service_id ? <Name text={service_id} /> : <span class="faint">every</span>) },
                { head: "Metric", show: ({ metric }) => <Name text={metric} /> },
                { head: "Full at", isNumber: true, show: ({ limit_value, unit }) => `${numberText(limit_value)} ${unit ?? ""}` },
                { head: "Since", isTight: true, show: ({ updated_at }) => <When at={updated_at} /> },
                {
                  head: "",
                  show: ({ service_id, metric }) => (
                    <ConfirmButton
                      question="Remove: sure?"
                      done="Removed"
                      work={() => call("DELETE /api/v1/saturation/limits", { query: { service: service_id ?? undefined, metric } })}
                    >
                      Remove
                    </ConfirmButton>
                  ),
                },
              ]}
            />
          )
        }
      </Shown>
    </Panel>
  );
}
