// How sensitive detection and paging are: each change is tried on the past first, then made.
import { useState } from "preact/hooks";
import { noteChange, useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { InEnvironment } from "../parts/environment.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { link, now, route } from "../state/route.ts";
import { plural } from "../view/number-text.ts";
import { backtestText, changedSettings } from "../view/settings-change.ts";

interface Setting {
  readonly value: number | string | boolean;
  readonly source: string;
}

interface SettingsAnswer {
  readonly settings: Readonly<Record<string, Setting>>;
  readonly set: Readonly<Record<string, unknown>>;
  readonly overrides: ReadonlyArray<{
    service_id: string | null;
    metric_name: string | null;
    set: Record<string, unknown>;
    updated_at: string | null;
  }>;
}

interface PageMoment {
  readonly timestamp: string;
  readonly service_id: string;
  readonly metric_name: string;
  readonly environment: string;
  readonly severity: string;
  readonly explanation: string;
}

interface Backtest {
  readonly series: number;
  readonly samples: number;
  readonly pages: { readonly before: number; readonly after: number; readonly newly: number; readonly no_longer: number };
  readonly newly: readonly PageMoment[];
  readonly no_longer: readonly PageMoment[];
}

export function Settings() {
  const { service_id, metric_name } = route.value.query;
  const answer = useAnswer<SettingsAnswer>("GET /api/v1/settings/watchdog", { query: { service_id, metric_name, limit: 200 } });
  const scope = service_id === undefined ? "everything" : metric_name === undefined ? service_id : `${metric_name} of ${service_id}`;
  return (
    <>
      <Head
        title="Detection settings"
        about={
          <>
            For <Name text={scope} /> in all environments. A change is tried on the past first: it says which pages there would have been.
            Marks of false alarms raise thresholds besides, for two weeks.
          </>
        }
      />
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
        <SearchField label="Metric, its whole name" name="metric_name" />
      </search>
      <Shown of={answer}>
        {(settings) => (
          <>
            <Editor answer={settings} scope={{ service_id, metric_name }} key={JSON.stringify([service_id, metric_name, settings.set])} />
            <Overrides of={settings.overrides} />
          </>
        )}
      </Shown>
    </>
  );
}

const MEANINGS: Readonly<Record<string, string>> = {
  z_threshold: "Standard deviations from the usual from which on a value is an anomaly",
  rca_cooldown_minutes: "Minutes between two analyses of the same pair",
  dedup_max_age_minutes: "Minutes in which what comes again belongs to the same alert",
  direction: "Which departures alert: high, low or both",
  excluded: "Detection is off here",
  evaluation_delay_seconds: "Seconds that late samples are waited for",
  minimum_traffic: "Requests below which rates are not judged",
};

/** Where a value comes from; `environment` is the process's, which is no environment of services. */
const SOURCES: Readonly<Record<string, string>> = { environment: "the server's start", default: "the default" };

type Scope = Readonly<Record<"service_id" | "metric_name", string | undefined>>;

function Editor({ answer, scope }: { answer: SettingsAnswer; scope: Scope }) {
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(Object.entries(answer.settings).map(([name, { value }]) => [name, String(value)])),
  );
  const [outcome, setOutcome] = useState<Backtest>();
  const changed = changedSettings(answer.settings, values);
  const isChanged = Object.keys(changed).length > 0;
  const tryIt = async () => {
    const since = new Date(now.value - 86_400_000).toISOString();
    const until = new Date(now.value).toISOString();
    setOutcome(await call<Backtest>("POST /api/v1/backtest", { body: { ...scope, since, until, settings: changed } }));
  };
  const save = async () => {
    await call("PUT /api/v1/settings/watchdog", { body: { ...scope, ...changed } });
    notify("good", "Saved; used from the next sample on");
    noteChange();
  };
  return (
    <Panel title="Current settings">
      <div class="stack">
        <div class="fields">
          {Object.entries(answer.settings).map(([name, { value, source }]) => (
            // biome-ignore lint/a11y/noLabelWithoutControl: SettingField is its control
            <label class="field" key={name}>
              <span>
                {name.replaceAll("_", " ")} <span class="faint">from {SOURCES[source] ?? source}</span>
              </span>
              <SettingField
                name={name}
                kind={typeof value}
                value={values[name] ?? ""}
                onChange={(next) => {
                  setValues({ ...values, [name]: next });
                  setOutcome(undefined);
                }}
              />
              <small>{MEANINGS[name]}</small>
            </label>
          ))}
        </div>
        {outcome !== undefined && <Outcome outcome={outcome} />}
        <div class="tools">
          <Button tone={outcome === undefined ? "main" : "plain"} onClick={tryIt} disabled={!isChanged}>
            Try it on the last day
          </Button>
          <Button
            tone={outcome === undefined ? "plain" : "main"}
            onClick={save}
            disabled={!isChanged || outcome === undefined}
            label={outcome === undefined ? "Try it first" : "Save"}
          >
            Save
          </Button>
        </div>
      </div>
    </Panel>
  );
}

function SettingField({ name, kind, value, onChange }: { name: string; kind: string; value: string; onChange: (value: string) => void }) {
  const choices = kind === "boolean" ? ["false", "true"] : name === "direction" ? ["both", "high", "low"] : undefined;
  if (choices === undefined) return <input value={value} inputMode="decimal" onInput={(event) => onChange(event.currentTarget.value)} />;
  return (
    <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {choices.map((choice) => (
        <option key={choice}>{choice}</option>
      ))}
    </select>
  );
}

function Outcome({ outcome }: { outcome: Backtest }) {
  const list = (title: string, moments: readonly PageMoment[]) =>
    moments.length > 0 && (
      <details>
        <summary>
          {title}: {moments.length}
        </summary>
        <ul class="stack">
          {moments.slice(0, 50).map(({ timestamp, service_id, metric_name, environment, explanation }) => (
            <li key={`${timestamp} ${environment} ${service_id} ${metric_name}`}>
              <a href={link(["ledger"], { service_id, metric_name, environment, at: timestamp })}>
                <When at={timestamp} /> <Name text={service_id} />
                <InEnvironment of={environment} />
              </a>{" "}
              <span class="soft">{explanation}</span>
            </li>
          ))}
        </ul>
      </details>
    );
  return (
    <div class="note stack" role="status">
      <strong>{backtestText(outcome.pages)}</strong>
      <span class="faint">
        {plural(outcome.series, "series", "series")}, {plural(outcome.samples, "sample", "samples")} of the last day
      </span>
      {list("Would page no longer", outcome.no_longer)}
      {list("Would page besides", outcome.newly)}
    </div>
  );
}

function Overrides({ of }: { of: SettingsAnswer["overrides"] }) {
  return (
    <Panel title="Set for parts">
      {of.length === 0 ? (
        <Empty title="None">Name a service above to set something for it alone.</Empty>
      ) : (
        <Table
          label="Overrides"
          rows={of}
          keyOf={({ service_id, metric_name }) => `${service_id} ${metric_name}`}
          columns={[
            {
              head: "For",
              show: ({ service_id, metric_name }) => (
                <a href={link(["settings"], { service_id: service_id ?? undefined, metric_name: metric_name ?? undefined })}>
                  {service_id === null ? "everything" : <Name text={service_id} />} {metric_name !== null && <Name text={metric_name} />}
                </a>
              ),
            },
            {
              head: "Set",
              show: ({ set }) =>
                Object.entries(set).map(([name, value]) => <Tag key={name}>{`${name.replaceAll("_", " ")} ${String(value)}`}</Tag>),
            },
            { head: "Since", isTight: true, show: ({ updated_at }) => <When at={updated_at} /> },
            {
              head: "",
              show: ({ service_id, metric_name }) => (
                <ConfirmButton
                  question="Back to the default: sure?"
                  done="Taken back"
                  work={() =>
                    call("DELETE /api/v1/settings/watchdog", {
                      query: { service_id: service_id ?? undefined, metric_name: metric_name ?? undefined },
                    })
                  }
                >
                  Take back
                </ConfirmButton>
              ),
            },
          ]}
        />
      )}
    </Panel>
  );
}
