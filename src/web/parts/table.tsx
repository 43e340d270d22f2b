// Tables of rows: columns by what they show, sorted by the server or not at all.
import type { ComponentChildren } from "preact";
import { LongTableRows } from "./long-list.tsx";

export interface Column<R> {
  readonly head: string;
  readonly show: (row: R) => ComponentChildren;
  readonly isNumber?: boolean;
  readonly isTight?: boolean;
}

/** Height of a row with one line. */
const ROW_PX = 40;

export function Table<R>({
  rows,
  columns,
  keyOf,
  label,
  total = 0,
}: {
  rows: readonly R[];
  columns: ReadonlyArray<Column<R>>;
  keyOf: (row: R) => string;
  label: string;
  /** Number of rows of a long table, read or not. Its columns keep their widths. */
  total?: number;
}) {
  const rowOf = (row: R, index: number) => (
    <tr key={keyOf(row)} data-row aria-rowindex={total > 0 ? index + 2 : undefined}>
      {columns.map(({ head, show, isNumber, isTight }) => (
        <td key={head} class={`${isNumber ? "right" : ""} ${isTight ? "tight" : ""}`}>
          {show(row)}
        </td>
      ))}
    </tr>
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by keys
    <section class="scroll" tabIndex={0} aria-label={`${label}: table`}>
      <table class={total > 0 ? "long" : ""} aria-rowcount={total > 0 ? total + 1 : undefined}>
        <thead>
          <tr>
            {columns.map(({ head, isNumber, isTight }) => (
              <th key={head} class={`${isNumber ? "right" : ""} ${isTight ? "tight" : ""}`} scope="col">
                {head === "" ? <span class="unseen">Actions</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        {total > 0 ? <LongTableRows rows={rows} rowPx={ROW_PX} columns={columns.length} show={rowOf} /> : <tbody>{rows.map(rowOf)}</tbody>}
      </table>
    </section>
  );
}

/** Pairs of a word and what it is. */
export function Facts({ facts }: { facts: ReadonlyArray<readonly [label: string, value: ComponentChildren]> }) {
  return (
    <dl class="facts">
      {facts.map(([label, value]) => (
        <>
          <dt key={label}>{label}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}
