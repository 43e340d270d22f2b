// Labels of services, by hand, and the catalog that brings many.
import { useState } from "preact/hooks";
import { noteChange } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Form } from "../parts/form.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { route } from "../state/route.ts";

interface Label {
  readonly service_id: string;
  readonly key: string;
  readonly value: string;
  readonly source: string;
  readonly updated_at: string;
  readonly overrides: ReadonlyArray<{ readonly source: string; readonly value: string }>;
}

export function Labels() {
  const { service_id, key } = route.value.query;
  const list = usePages<Label>("GET /api/v1/service-labels", { query: { service_id, key, limit: 100 } }, "labels");
  const set = async (body: Record<string, unknown>) => {
    await call("PUT /api/v1/service-labels", { body });
    notify("good", "Set");
    noteChange();
  };
  return (
    <>
      <Head
        title="Labels and catalog"
        about="Team and owner decide who is told. By hand wins over the catalog, the catalog over telemetry."
      />
      <div class="grid">
        <Panel title="Set a label by hand">
          <Form
            action="Set"
            submit={set}
            initial={{ service_id }}
            fields={[
              { name: "service_id", label: "Service", isRequired: true },
              { name: "key", label: "Label", initial: "team", isRequired: true },
              { name: "value", label: "Value", isRequired: true },
            ]}
          />
        </Panel>
        <Catalog />
      </div>
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
        <SearchField label="Label, such as team" name="key" />
      </search>
      <Shown of={list.answer}>
        {() => (
          <section class="panel flush" aria-label="Labels">
            {list.rows.length === 0 ? (
              <Empty title="No labels" />
            ) : (
              <Table label="Labels" rows={list.rows} keyOf={(row) => `${row.service_id} ${row.key}`} columns={COLUMNS} />
            )}
          </section>
        )}
      </Shown>
      <MoreRows of={list} noun="labels" />
    </>
  );
}

const COLUMNS = [
  { head: "Service", show: ({ service_id }: Label) => <Name text={service_id} /> },
  { head: "Label", show: ({ key }: Label) => key },
  { head: "Value", show: ({ value }: Label) => <Name text={value} /> },
  { head: "From", show: ({ source }: Label) => <Tag>{source}</Tag> },
  { head: "Wins over", show: ({ overrides }: Label) => overrides.map(({ source, value }) => `${value} (${source})`).join(", ") || "–" },
  { head: "Since", isTight: true, show: ({ updated_at }: Label) => <When at={updated_at} /> },
  {
    head: "",
    show: ({ service_id, key, source }: Label) =>
      source === "manual" ? (
        <ConfirmButton
          question="Take it away: sure?"
          done="Taken away"
          work={() => call("DELETE /api/v1/service-labels", { query: { service_id, key, source } })}
        >
          Take away
        </ConfirmButton>
      ) : null,
  },
];

interface Imported {
  readonly dry_run: boolean;
  readonly entities: number;
  readonly set: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly skipped_by_reason: Readonly<Record<string, number>>;
}

function Catalog() {
  const [text, setText] = useState("");
  const [outcome, setOutcome] = useState<Imported>();
  const send = async (dry_run: boolean) => {
    const answer = await call<Imported>("POST /api/v1/atlas/import/catalog", {
      query: { dry_run },
      text: { mediaType: "application/yaml", content: text },
    });
    setOutcome(answer);
    if (dry_run) return;
    notify("good", `${answer.set} labels set`);
    noteChange();
  };
  return (
    <Panel title="Import a catalog">
      <div class="stack">
        <label class="field">
          <span>Backstage entities as YAML</span>
          <textarea rows={5} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        {outcome !== undefined && (
          <p class="note" role="status">
            {outcome.dry_run ? "Would set" : "Set"} {outcome.set} of {outcome.entities}; {outcome.unchanged} the same, {outcome.skipped}{" "}
            skipped
            {Object.entries(outcome.skipped_by_reason).map(([reason, count]) => ` (${reason.replaceAll("_", " ")}: ${count})`)}
          </p>
        )}
        <div class="tools">
          <Button onClick={() => send(true)} disabled={text.trim() === ""}>
            Try
          </Button>
          <Button tone="main" onClick={() => send(false)} disabled={text.trim() === ""}>
            Import
          </Button>
        </div>
      </div>
    </Panel>
  );
}
