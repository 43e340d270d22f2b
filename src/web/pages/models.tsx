// Models of services: trained on request, scored as shadows beside production, promoted and taken back; and whether what they learned still holds.
import { useEffect, useState } from "preact/hooks";
import { noteChange, useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { listen } from "../live/stream.ts";
import { Button, Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { Choice } from "../parts/choice.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { EnvironmentField, InEnvironment } from "../parts/environment.tsx";
import { Form } from "../parts/form.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { link, route } from "../state/route.ts";
import type { FormField } from "../view/form-body.ts";
import { countText, percentText, plural } from "../view/number-text.ts";
import type { Drift, Model, Promotion, Training } from "../view/shapes.ts";

const ROWS = 100;

export function Models() {
  const { service_id, environment, state } = route.value.query;
  const list = usePages<Model>("GET /api/v1/ml/models", { query: { service_id, environment, state, limit: ROWS } }, "models", 30_000);
  const [promotion, setPromotion] = useState<Promotion>();
  return (
    <>
      <Head
        title="Models"
        about="What has been learned of services. A model that is trained on request is a shadow until somebody promotes it."
      />
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
        <EnvironmentField />
        <Choice name="state" label="State" choices={["shadow", "production", "retired"]} />
      </search>
      {promotion !== undefined && <Comparison of={promotion} />}
      <Shown of={list.answer}>
        {() => (
          <section class="panel flush" aria-label="Models">
            {list.rows.length === 0 ? (
              <Empty title="No model yet">
                A service is learned by itself once it has some hours of values, or at once where it is asked for below.
              </Empty>
            ) : (
              <Table label="Models" rows={list.rows} keyOf={({ model_id }) => model_id} columns={columnsWith(setPromotion)} />
            )}
          </section>
        )}
      </Shown>
      <MoreRows of={list} noun="models" />
      <div class="grid">
        <Train key={`${service_id} ${environment}`} />
        {service_id !== undefined && <DriftPanel of={{ service_id, environment }} />}
      </div>
      <Trainings of={{ service_id, environment }} />
    </>
  );
}

const STATE_TONES = { shadow: "accent", production: "good", retired: "" } as const;

function columnsWith(onPromoted: (promotion: Promotion) => void) {
  return [
    {
      head: "Service",
      show: ({ service_id, environment }: Model) => (
        <a href={link(["models"], { service_id, environment })}>
          <Name text={service_id} />
          <InEnvironment of={environment} />
        </a>
      ),
    },
    { head: "State", show: ({ state }: Model) => <Tag tone={STATE_TONES[state]}>{state}</Tag> },
    { head: "Trained", isTight: true, show: ({ trained_at }: Model) => <When at={trained_at} /> },
    { head: "By", show: ({ origin }: Model) => (origin === "automatic" ? "itself" : "request") },
    { head: "On", isNumber: true, show: ({ samples }: Model) => `${countText(samples)} vectors` },
    { head: "As a shadow", show: ({ scored, alerts }: Model) => `${plural(alerts, "alert", "alerts")} in ${countText(scored)} vectors` },
    {
      head: "",
      show: (model: Model) => (
        <div class="row end">
          {model.state !== "production" && model.origin === "requested" && <Promote model={model} onPromoted={onPromoted} />}
          {model.state === "production" && model.origin === "requested" && <RollBack model={model} />}
        </div>
      ),
    },
  ];
}

function Promote({ model: { model_id, service_id }, onPromoted }: { model: Model; onPromoted: (promotion: Promotion) => void }) {
  const promote = async (only_if_better: boolean) => {
    onPromoted(await call<Promotion>("POST /api/v1/ml/promote", { body: { model_id, service_id, only_if_better } }));
    notify("good", "It is in production");
    noteChange();
  };
  return (
    <>
      <Button onClick={() => promote(true)} label="Refused where it is not better on what people have labelled">
        Promote if better
      </Button>
      <ConfirmButton question="Promote in any case?" done="It is in production" work={() => promote(false)}>
        Promote
      </ConfirmButton>
    </>
  );
}

function RollBack({ model: { service_id, environment } }: { model: Model }) {
  const roll = () => call("POST /api/v1/ml/rollback", { body: { service_id, environment } });
  return (
    <ConfirmButton question="Back to the one before?" done="The one before is in production" work={roll}>
      Roll back
    </ConfirmButton>
  );
}

function Comparison({ of: { service_id, comparison, warning } }: { of: Promotion }) {
  return (
    <div class={`note stack ${warning === null ? "good" : "warn"}`} role="status">
      <strong>
        <Name text={service_id} />: {comparison === null ? "promoted" : `${comparison.verdict} on what people have labelled`}
      </strong>
      {warning !== null && <span>{warning}</span>}
      {comparison !== null && (
        <span>
          {countText(comparison.vectors)} vectors with {plural(comparison.labelled_incidents, "labelled incident", "labelled incidents")}:
          it pages {comparison.candidate.pages} times and catches {comparison.candidate.incidents_caught}; the one before{" "}
          {comparison.production.pages} and {comparison.production.incidents_caught}.
        </span>
      )}
    </div>
  );
}

const TRAIN_FIELDS: readonly FormField[] = [
  { name: "service_id", label: "Service", isRequired: true },
  { name: "environment", label: "Environment" },
  { name: "training_window_days", label: "Days to learn from", kind: "number", initial: "7", isRequired: true },
];

function Train() {
  const submit = async (body: Record<string, unknown>) => {
    const job = await call<{ estimated_duration_minutes: number }>("POST /api/v1/ml/train", {
      body: { ...body, model_type: "isolation_forest" },
    });
    notify("good", `It is trained, within some ${plural(Math.max(1, job.estimated_duration_minutes), "minute", "minutes")}`);
    noteChange();
  };
  return (
    <Panel title="Train a model">
      <Form
        action="Train"
        fields={TRAIN_FIELDS}
        submit={submit}
        initial={{ service_id: route.value.query.service_id, environment: route.value.query.environment }}
      />
    </Panel>
  );
}

function DriftPanel({ of: query }: { of: { service_id: string; environment: string | undefined } }) {
  const answer = useAnswer<Drift>("GET /api/v1/ml/drift", { query });
  return (
    <Panel title="Does what was learned still hold?">
      <Shown of={answer} rows={3}>
        {(drift) => (
          <div class="stack">
            <p>
              <Tag tone={drift.drift_detected ? "medium" : "good"}>{drift.drift_detected ? "it has drifted" : "it holds"}</Tag>
              <InEnvironment of={drift.environment} /> {drift.recommendation}
            </p>
            <p class="faint">
              PSI {drift.psi.toFixed(2)}, divergence {drift.kl_divergence.toFixed(2)}, over {countText(drift.samples)} vectors of today;
              trained <When at={drift.last_trained} />
            </p>
            <Table
              label="Drift by metric"
              rows={drift.metrics}
              keyOf={({ metric_name }) => metric_name}
              columns={[
                { head: "Metric", show: ({ metric_name }) => <Name text={metric_name} /> },
                { head: "PSI", isNumber: true, show: ({ psi }) => psi.toFixed(2) },
                { head: "", show: ({ drifted }) => (drifted ? <Tag tone="medium">moved</Tag> : "as it was") },
              ]}
            />
          </div>
        )}
      </Shown>
    </Panel>
  );
}

const JOB_TONES = { queued: "", running: "accent", succeeded: "good", failed: "high", cancelled: "" } as const;

function Trainings({ of }: { of: { service_id: string | undefined; environment: string | undefined } }) {
  const list = usePages<Training>("GET /api/v1/ml/jobs", { query: { ...of, limit: ROWS } }, "jobs", 15_000);
  useEffect(() => listen({ onEvent: (event) => event === "job" && list.answer.reload(), onGap: list.answer.reload }), []);
  return (
    <Panel title="Trainings">
      <Shown of={list.answer} rows={3}>
        {() =>
          list.rows.length === 0 ? (
            <Empty title="None has been asked for" />
          ) : (
            <Table label="Trainings" rows={list.rows} keyOf={({ job_id }) => job_id} columns={JOB_COLUMNS} />
          )
        }
      </Shown>
    </Panel>
  );
}

const JOB_COLUMNS = [
  { head: "Asked for", isTight: true, show: ({ created_at }: Training) => <When at={created_at} /> },
  {
    head: "Service",
    show: ({ service_id, environment }: Training) => (
      <>
        <Name text={service_id} />
        <InEnvironment of={environment} />
      </>
    ),
  },
  {
    head: "State",
    show: ({ status, progress }: Training) => (
      <Tag tone={JOB_TONES[status]}>
        {status}
        {status === "running" && ` ${percentText(progress)}`}
      </Tag>
    ),
  },
  {
    head: "How",
    show: ({ reason, notes, samples_found, samples_needed }: Training) => (
      <span class="soft">
        {[reason, samples_needed !== null && `${samples_found} of ${samples_needed} vectors`, ...notes]
          .filter((part) => typeof part === "string")
          .join("; ")}
      </span>
    ),
  },
  { head: "By", show: ({ requested_by }: Training) => <Name text={requested_by} /> },
  {
    head: "",
    show: ({ job_id, status }: Training) =>
      (status === "queued" || status === "running") && (
        <ConfirmButton
          question="Cancel: sure?"
          done="Cancelled"
          work={() => call("POST /api/v1/ml/jobs/{id}/cancel", { path: { id: job_id } })}
        >
          Cancel
        </ConfirmButton>
      ),
  },
];
