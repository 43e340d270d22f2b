// Pages of lists that are kept by hand or told by the server: one description each, in resources.tsx.
import { useState } from "preact/hooks";
import { noteChange } from "../client/answers.ts";
import { type CallKey, call } from "../client/client.ts";
import { Empty, Head, Panel, Secret, Shown } from "../parts/basics.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Form } from "../parts/form.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { route } from "../state/route.ts";
import type { FormField } from "../view/form-body.ts";

export type Row = Readonly<Record<string, unknown>>;

/** Props of a list's page. */
export interface Resource {
  readonly title: string;
  readonly about: string;
  readonly list: CallKey;
  readonly member: string;
  readonly noun: string;
  readonly filters?: ReadonlyArray<readonly [name: string, label: string]>;
  readonly columns: ReadonlyArray<Column<Row>>;
  readonly keyOf: (row: Row) => string;
  readonly create?: {
    readonly key: CallKey;
    readonly action: string;
    readonly fields: readonly FormField[];
    readonly shape?: (body: Record<string, unknown>) => unknown;
  };
  /** Member of the answer to `create` that is shown once. */
  readonly secret?: string;
  readonly remove?: { readonly key: CallKey; readonly path: (row: Row) => Record<string, string>; readonly word: string };
  readonly actions?: (row: Row) => preact.ComponentChildren;
  readonly empty: string;
}

const ROWS = 100;

export function ResourcePage({ of }: { of: Resource }) {
  const { query } = route.value;
  const filters = Object.fromEntries((of.filters ?? []).map(([name]) => [name, query[name]]));
  const list = usePages<Row>(of.list, { query: { ...filters, limit: ROWS } }, of.member);
  const columns: Array<Column<Row>> = [...of.columns, ...rowActions(of)];
  return (
    <>
      <Head title={of.title} about={of.about} />
      {of.create !== undefined && <Create of={of} create={of.create} />}
      {of.filters !== undefined && (
        <search class="filters">
          {of.filters.map(([name, label]) => (
            <SearchField key={name} name={name} label={label} />
          ))}
        </search>
      )}
      <Shown of={list.answer}>
        {() => (
          <section class="panel flush" aria-label={of.title}>
            {list.rows.length === 0 ? (
              <Empty title={of.empty} />
            ) : (
              <Table label={of.title} rows={list.rows} keyOf={of.keyOf} columns={columns} />
            )}
          </section>
        )}
      </Shown>
      <MoreRows of={list} noun={of.noun} />
    </>
  );
}

function rowActions({ remove, actions }: Resource): Array<Column<Row>> {
  if (remove === undefined && actions === undefined) return [];
  const show = (row: Row) => (
    <div class="row end">
      {actions?.(row)}
      {remove !== undefined && (
        <ConfirmButton question={`${remove.word}: sure?`} done="Done" work={() => call(remove.key, { path: remove.path(row) })}>
          {remove.word}
        </ConfirmButton>
      )}
    </div>
  );
  return [{ head: "", show }];
}

function Create({ of, create }: { of: Resource; create: NonNullable<Resource["create"]> }) {
  const [secret, setSecret] = useState("");
  const submit = async (body: Record<string, unknown>) => {
    const made = await call<Row>(create.key, { body: create.shape?.(body) ?? body });
    if (of.secret !== undefined) setSecret(String(made[of.secret] ?? ""));
    notify("good", "Created");
    noteChange();
  };
  return (
    <Panel>
      {secret !== "" && <Secret text={secret} onDone={() => setSecret("")} />}
      <details open={secret === "" && route.value.query.new !== undefined}>
        <summary>{create.action}</summary>
        <Form fields={create.fields} action={create.action} submit={submit} initial={route.value.query} />
      </details>
    </Panel>
  );
}
