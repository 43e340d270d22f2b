// Runs of runbooks: a table of them, and one of them step by step with what can be decided.
import { useState } from "preact/hooks";
import { noteChange } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { notify } from "../state/notices.tsx";
import { link } from "../state/route.ts";
import type { Execution } from "../view/shapes.ts";
import { Button, Head, Name, Panel, Tag, When } from "./basics.tsx";
import { Facts, Table } from "./table.tsx";

type Step = Execution["steps"][number];

function toneOf(state: string): string {
  if (state === "succeeded") return "good";
  return state === "pending_approval" ? "accent" : ["failed", "interrupted"].includes(state) ? "high" : "";
}

export function ExecutionTable({ rows }: { rows: readonly Execution[] }) {
  return (
    <Table
      label="Runs"
      rows={rows}
      keyOf={({ execution_id }) => execution_id}
      columns={[
        {
          head: "Begun",
          isTight: true,
          show: ({ execution_id, created_at }) => (
            <a href={link(["runbooks", "run", execution_id])}>
              <When at={created_at} />
            </a>
          ),
        },
        { head: "Runbook", show: ({ runbook_name }) => <Name text={runbook_name} /> },
        { head: "Service", show: ({ service_id }) => <Name text={service_id ?? ""} /> },
        { head: "State", show: ({ state }) => <Tag tone={toneOf(state)}>{state.replace("_", " ")}</Tag> },
        { head: "By", show: ({ started_by }) => <Name text={started_by ?? "itself"} /> },
        {
          head: "Why",
          show: ({ reason, pending_step }) => <Name text={reason ?? (pending_step === null ? "" : `${pending_step} waits`)} />,
        },
      ]}
    />
  );
}

export function ExecutionPanel({ execution }: { execution: Execution }) {
  const { runbook_id, runbook_name, anomaly_id, service_id, state, dry_run, started_by, created_at, ended_at, reason } = execution;
  return (
    <>
      <Head
        title={<Name text={runbook_name} />}
        about={
          <>
            {dry_run ? "What it would do" : "A run"} of <a href={link(["runbooks", runbook_id])}>the runbook</a>.
          </>
        }
      />
      <Panel>
        <Facts
          facts={[
            ["State", <Tag tone={toneOf(state)} key="state">{`${state.replace("_", " ")}${reason === null ? "" : `: ${reason}`}`}</Tag>],
            [
              "For",
              anomaly_id === null ? (
                "no anomaly"
              ) : (
                <a href={link(["anomaly", anomaly_id])} key="for">
                  <Name text={service_id ?? anomaly_id} />
                </a>
              ),
            ],
            ["By", started_by ?? "itself"],
            ["Begun", <When at={created_at} key="begun" />],
            ["Ended", <When at={ended_at} key="ended" />],
          ]}
        />
        <Decision execution={execution} />
      </Panel>
      <Panel title="Steps">
        <ol class="stack">
          {execution.steps.map((step) => (
            <li key={step.name}>
              <StepView step={step} />
            </li>
          ))}
        </ol>
      </Panel>
    </>
  );
}

/** Decisions open to somebody else than the starter; anybody may cancel. */
function Decision({ execution: { execution_id: id, state, pending_step: step, expires_at } }: { execution: Execution }) {
  const [comment, setComment] = useState("");
  if (ENDED.has(state)) return null;
  const decide = (key: Parameters<typeof call>[0], done: string, body: unknown) => async () => {
    await call(key, { path: { id }, body });
    notify("good", done);
    noteChange();
  };
  return (
    <div class="note stack">
      {step !== null && (
        <strong>
          “{step}” waits for an approval <When at={expires_at} />
        </strong>
      )}
      <label class="field">
        <span>Why</span>
        <input value={comment} onInput={(event) => setComment(event.currentTarget.value)} />
      </label>
      <div class="tools">
        {step !== null && (
          <>
            <Button
              tone="main"
              icon="check"
              onClick={decide("POST /api/v1/runbooks/executions/{id}/approve", "Approved", { step, comment })}
            >
              Approve
            </Button>
            <Button onClick={decide("POST /api/v1/runbooks/executions/{id}/reject", "Rejected", { step, comment })}>Reject</Button>
          </>
        )}
        <Button tone="danger" onClick={decide("POST /api/v1/runbooks/executions/{id}/cancel", "Cancelled", { comment })}>
          Cancel the run
        </Button>
      </div>
    </div>
  );
}

const ENDED: ReadonlySet<Execution["state"]> = new Set(["succeeded", "failed", "rejected", "expired", "cancelled", "interrupted"]);

function StepView({ step }: { step: Step }) {
  const { name, state, action, request, status_code, result, decided_by, comment, started_at } = step;
  return (
    <div class="stack">
      <span class="row">
        <Tag tone={toneOf(state)}>{state.replace("_", " ")}</Tag>
        <strong>
          <Name text={name} />
        </strong>
        <span>{action}</span>
        {started_at !== null && <When at={started_at} />}
      </span>
      {decided_by !== null && (
        <span class="soft">
          decided by <Name text={decided_by} /> {comment}
        </span>
      )}
      {(status_code !== null || result !== null) && (
        <span>
          {status_code !== null && `answered ${status_code} `}
          {result}
        </span>
      )}
      {request !== null && <pre>{`${request.method} ${request.url}\n${request.body ?? ""}`}</pre>}
    </div>
  );
}
