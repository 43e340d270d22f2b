// Rows as text in columns, for a person; and what the server said, for whoever asked for JSON.
import { writeLine } from "../../server/terminal.ts";

/** Lines with a head, each column as wide as its widest cell; the last has no end. */
export function tableLines(heads: readonly string[], rows: ReadonlyArray<readonly string[]>): string[] {
  const all = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all.map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] as number))).join("  "));
}

/** Writes an answer as JSON. */
export function writeJson(value: unknown): void {
  writeLine(JSON.stringify(value, null, 2));
}

/** A text of the server's that cannot steer the terminal: control characters are left out. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}
