// Lists of parts of the server that tell their rows in their own words: each row's simple members as columns.

import { useAnswer } from "../client/answers.ts";
import type { CallKey } from "../client/client.ts";
import { Empty, Panel, Shown, When } from "../parts/basics.tsx";
import { Table } from "../parts/table.tsx";
import { listedColumns, listedRows } from "../view/listed-rows.ts";
import { numberText } from "../view/number-text.ts";

export function Listed({
  title,
  of,
  query = {},
  empty,
}: {
  title: string;
  of: CallKey;
  query?: Readonly<Record<string, string | undefined>>;
  empty: string;
}) {
  const answer = useAnswer<unknown>(of, { query });
  return (
    <Panel title={title}>
      <Shown of={answer} rows={3}>
        {(data) => {
          const rows = listedRows(data);
          if (rows.length === 0) return <Empty title={empty} />;
          const columns = listedColumns(rows).map((name) => ({
            head: name.replaceAll("_", " "),
            show: (row: Readonly<Record<string, unknown>>) => <Value name={name} value={row[name]} />,
          }));
          return <Table label={title} rows={rows} keyOf={(row) => JSON.stringify(row)} columns={columns} />;
        }}
      </Shown>
    </Panel>
  );
}

function Value({ name, value }: { name: string; value: unknown }) {
  if (value === null || value === undefined || value === "") return <span class="faint">–</span>;
  if (typeof value === "number") return <span class="num">{numberText(Number(value.toPrecision(6)))}</span>;
  if (typeof value === "string" && /(_at|time|timestamp|since|until)$/.test(name) && !Number.isNaN(Date.parse(value)))
    return <When at={value} />;
  if (typeof value === "object") return <code class="clip">{JSON.stringify(value).slice(0, 120)}</code>;
  return <bdi>{String(value)}</bdi>;
}
