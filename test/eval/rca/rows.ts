// A figure beside its bar and goal.

export interface Row {
  readonly data: string;
  readonly measure: string;
  readonly value: number;
  readonly bar?: number;
  readonly goal?: number;
  /** Less is better. */
  readonly less?: boolean;
}

/** As a line of a table. */
export function rowText({ data, measure, value, bar, goal, less = false }: Row): string {
  const reaches = (aim: number | undefined) => aim !== undefined && (less ? value <= aim : value >= aim);
  const reached = bar === undefined ? "" : reaches(goal) ? "goal" : reaches(bar) ? "bar" : "no";
  return `| ${data} | ${measure} | ${value.toFixed(3)} | ${bar ?? "-"} | ${goal ?? "-"} | ${reached} |`;
}
