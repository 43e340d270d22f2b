// Tables of rows: columns by what they show, sorted by the server or not at all.
import type { ComponentChildren } from "preact";

export interface Column<R> {
  readonly head: string;
  readonly show: (row: R) => ComponentChildren;
  readonly isNumber?: boolean;
  readonly isTight?: boolean;
}

export function Table<R>({
  rows,
  columns,
  keyOf,
  label,
}: {
  rows: readonly R[];
  columns: ReadonlyArray<Column<R>>;
  keyOf: (row: R) => string;
  label: string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by keys
    <section class="scroll" tabIndex={0} aria-label={`${label}: table`}>
      <table>
        <thead>
          <tr>
            {columns.map(({ head, isNumber, isTight }) => (
              <th key={head} class={`${isNumber ? "right" : ""} ${isTight ? "tight" : ""}`} scope="col">
                {head === "" ? <span class="unseen">Actions</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} data-row>
              {columns.map(({ head, show, isNumber, isTight }) => (
                <td key={head} class={`${isNumber ? "right" : ""} ${isTight ? "tight" : ""}`}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
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
