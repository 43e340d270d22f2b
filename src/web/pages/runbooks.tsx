// Runbooks: what is done about a finding, by itself or after an approval; and their runs.
import { useState } from "preact/hooks";
import { noteChange, useAnswer } from "../client/answers.ts";
import { ApiError, call } from "../client/client.ts";
import { Button, Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { Choice } from "../parts/choice.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { ExecutionPanel, ExecutionTable } from "../parts/executions.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { Send } from "../parts/send.tsx";
import { Facts, Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { link, route } from "../state/route.ts";
import type { Execution, Runbook } from "../view/shapes.ts";
import { patternText } from "../view/webhook-form-body.ts";

const ROWS = 100;
const EXAMPLE = {
  id: "tell-the-team",
  name: "Tell the team",
  match: { service_id_regex: "^checkout$", severity: ["high"] },
  steps: [
    { name: "note", type: "annotate", text: "{{service_id}}: {{explanation}}" },
    { name: "tell", type: "notify", channels: ["chat:ops"], message: "{{service_id}}: {{explanation}}", approval_required: true },
  ],
};

/** `#/runbooks`, `#/runbooks/<id>`, `#/runbooks/run/<execution_id>`. */
export function Runbooks({ rest: [first, second] }: { rest: readonly string[] }) {
  if (first === "run" && second !== undefined) return <ExecutionPage id={second} />;
  return first === undefined ? <RunbookList /> : <RunbookPage id={first} />;
}

function RunbookList() {
  const list = usePages<Runbook>("GET /api/v1/runbooks", { query: { limit: ROWS } }, "runbooks");
  const make = async (body: unknown) => {
    await call("POST /api/v1/runbooks", { body });
    notify("good", "Saved");
    noteChange();
  };
  return (
    <>
      <Head title="Runbooks" about="What is done about a finding, step by step, by itself or after an approval." />
      <Panel>
        <details>
          <summary>Add a runbook</summary>
          <Document label="The runbook" initial={EXAMPLE} action="Save" submit={make} />
        </details>
      </Panel>
      <Shown of={list.answer}>
        {() => (
          <section class="panel flush" aria-label="Runbooks">
            {list.rows.length === 0 ? (
              <Empty title="No runbook">One that matches a finding is suggested with it; with auto it runs by itself.</Empty>
            ) : (
              <Table label="Runbooks" rows={list.rows} keyOf={({ id }) => id} columns={COLUMNS} />
            )}
          </section>
        )}
      </Shown>
      <MoreRows of={list} noun="runbooks" />
      <Runs />
    </>
  );
}

const COLUMNS = [
  {
    head: "Name",
    show: ({ id, name }: Runbook) => (
      <a href={link(["runbooks", id])}>
        <Name text={name} />
      </a>
    ),
  },
  { head: "For", show: ({ match }: Runbook) => <code>{patternText(match)}</code> },
  { head: "Steps", show: ({ steps }: Runbook) => steps.map(({ name, type }) => <Tag key={name}>{type}</Tag>) },
  { head: "Runs", show: ({ auto, dry_run, approval_required }: Runbook) => howText({ auto, dry_run, approval_required }) },
];

function howText({ auto, dry_run, approval_required }: Pick<Runbook, "auto" | "dry_run" | "approval_required">): string {
  const parts = [
    auto ? "by itself" : "when somebody runs it",
    approval_required && "after an approval",
    dry_run && "showing what it would do",
  ];
  return parts.filter((part) => part !== false).join(", ");
}

function Runs({ runbookId }: { runbookId?: string }) {
  const { state } = route.value.query;
  const list = usePages<Execution>(
    "GET /api/v1/runbooks/executions",
    { query: { runbook_id: runbookId, state, limit: ROWS } },
    "executions",
    10_000,
  );
  return (
    <>
      <Panel title="Runs" aside={<Choice name="state" label="State" choices={["pending_approval", "running", "succeeded", "failed"]} />}>
        <Shown of={list.answer} rows={3}>
          {() => (list.rows.length === 0 ? <Empty title="None has run" /> : <ExecutionTable rows={list.rows} />)}
        </Shown>
      </Panel>
      <MoreRows of={list} noun="runs" />
    </>
  );
}

function RunbookPage({ id }: { id: string }) {
  const answer = useAnswer<Runbook>("GET /api/v1/runbooks/{id}", { path: { id } });
  return (
    <>
      <Shown of={answer}>
        {(runbook) => (
          <>
            <Head
              title={<Name text={runbook.name} />}
              about={
                <>
                  One of the <a href={link(["runbooks"])}>runbooks</a>; {howText(runbook)}.
                </>
              }
            />
            <RunbookParts runbook={runbook} />
          </>
        )}
      </Shown>
      <Runs runbookId={id} />
    </>
  );
}

function RunbookParts({ runbook }: { runbook: Runbook }) {
  const { id, match, revision, updated_at, created_at: _, ...definition } = runbook;
  const [anomalyId, setAnomalyId] = useState(route.value.query.anomaly_id ?? "");
  const run = async (dry_run: boolean) => {
    const body = anomalyId.trim() === "" ? { dry_run } : { anomaly_id: anomalyId.trim(), dry_run };
    const { execution_id } = await call<{ execution_id: string }>("POST /api/v1/runbooks/{id}/execute", { path: { id }, body });
    location.hash = link(["runbooks", "run", execution_id]);
  };
  const change = async (body: unknown) => {
    await call("PUT /api/v1/runbooks/{id}", { path: { id }, body });
    notify("good", "Saved as the next revision");
    noteChange();
  };
  const remove = async () => {
    await call("DELETE /api/v1/runbooks/{id}", { path: { id } });
    location.hash = link(["runbooks"]);
  };
  return (
    <Panel>
      <Facts
        facts={[
          ["For", <code key="for">{patternText(match)}</code>],
          ["Revision", revision],
          ["Changed", <When at={updated_at} key="changed" />],
          [
            "Steps",
            runbook.steps
              .map(({ name, type, approval_required }) => `${name} (${type}${approval_required ? ", approved" : ""})`)
              .join(", "),
          ],
        ]}
      />
      <div class="tools">
        <label class="field">
          <span>For the anomaly</span>
          <input value={anomalyId} onInput={(event) => setAnomalyId(event.currentTarget.value)} />
          <small>its id; placeholders speak of it, and are empty without</small>
        </label>
        <Button onClick={() => run(true)}>Show what it would do</Button>
        <Button tone="main" icon="play" onClick={() => run(false)}>
          Run it
        </Button>
        <ConfirmButton question="Delete: sure?" done="Deleted" work={remove}>
          Delete
        </ConfirmButton>
      </div>
      <details>
        <summary>Change it</summary>
        <Document label="The runbook" initial={{ ...definition, match }} action="Save" submit={change} key={revision} />
      </details>
    </Panel>
  );
}

function ExecutionPage({ id }: { id: string }) {
  const answer = useAnswer<Execution>("GET /api/v1/runbooks/executions/{id}", { path: { id } }, 2_000);
  return <Shown of={answer}>{(execution) => <ExecutionPanel execution={execution} />}</Shown>;
}

// A JSON document that is written by hand and sent; what was typed stays where the server refuses it.

function Document({
  label,
  initial,
  action,
  submit,
}: {
  label: string;
  initial: unknown;
  action: string;
  submit: (body: unknown) => Promise<unknown>;
}) {
  const [text, setText] = useState(() => JSON.stringify(initial, null, 2));
  const [fault, setFault] = useState("");
  const send = async () => {
    setFault("");
    try {
      await submit(JSON.parse(text));
    } catch (error) {
      if (error instanceof ApiError) setFault(error.field === null ? error.message : `${error.field}: ${error.message}`);
      else setFault(`This is no JSON: ${(error as Error).message}`);
    }
  };
  return (
    <div class="stack">
      <label class="field">
        <span>{label}</span>
        <textarea rows={14} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <Send fault={fault} action={action} onSend={send} />
    </div>
  );
}
