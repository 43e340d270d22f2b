// A figure beside its bar and goal.

/** A figure that is to be reached, or a range that it is to lie in. */
export type Aim = number | readonly [least: number, most: number];

export interface Row {
  readonly data: string;
  readonly measure: string;
  readonly value: number;
  readonly bar?: Aim;
  readonly goal?: Aim;
  /** Less is better. */
  readonly less?: boolean;
}

/** As a table. */
export function rowsText(rows: readonly Row[]): string {
  return ["| data | measure | value | bar | goal | reached |", "|---|---|---|---|---|---|", ...rows.map(rowText)].join("\n");
}

function rowText({ data, measure, value, bar, goal, less = false }: Row): string {
  const reaches = (aim: Aim | undefined) => {
    if (aim === undefined) return false;
    if (typeof aim !== "number") return value >= aim[0] && value <= aim[1];
    return less ? value <= aim : value >= aim;
  };
  const reached = bar === undefined ? "" : reaches(goal) ? "goal" : reaches(bar) ? "bar" : "no";
  return `| ${data} | ${measure} | ${value.toFixed(3)} | ${aimText(bar)} | ${aimText(goal)} | ${reached} |`;
}

function aimText(aim: Aim | undefined): string {
  if (aim === undefined) return "-";
  return typeof aim === "number" ? String(aim) : `${aim[0]} to ${aim[1]}`;
}
