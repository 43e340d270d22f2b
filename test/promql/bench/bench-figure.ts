// What a row of the bench of queries has measured, and what it is held against.

/** A measured number; `bar` is what it may be at most, `goal` what it should be. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly bar?: number;
  readonly goal?: number;
  readonly note?: string;
}

/** Whether a figure is within its bar. */
export function meetsBar({ value, bar }: Figure): boolean {
  return bar === undefined || value <= bar;
}

function verdict({ value, bar, goal }: Figure): string {
  if (bar === undefined) return "";
  if (!(value <= bar)) return "**bar missed**";
  return goal === undefined || value > goal ? "bar met" : "goal met";
}

/** A figure as a line of a table. */
export function figureLine(figure: Figure): string {
  const { what, value, unit, bar, goal, note } = figure;
  const shown = Number.isInteger(value) ? String(value) : value.toPrecision(3);
  return `| ${what} | ${shown} ${unit} | ${bar ?? ""} | ${goal ?? ""} | ${verdict(figure)} | ${note ?? ""} |`;
}

/** A value of which a share of others is not above; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
