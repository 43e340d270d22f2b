// What `vedette alerts` and `vedette anomalies` ask of their lists, and how many rows of all they show.
import type { CommandArguments } from "../command-arguments.ts";
import { readCount } from "./label-operand.ts";

const LIMIT_MAX = 1000;
const LIMIT = 50;

/** A list's parameters: --limit, --state unless it is `all`, and the filters that are given, by option and parameter. */
export function listQuery(
  input: CommandArguments,
  { state: initial, filters }: { readonly state: string; readonly filters: Readonly<Record<string, string>> },
): URLSearchParams {
  const limit = input.text("limit");
  const search = new URLSearchParams({ limit: String(limit === undefined ? LIMIT : readCount("limit", limit, LIMIT_MAX)) });
  const state = input.text("state") ?? initial;
  if (state !== "all") search.set("state", state);
  for (const [option, name] of Object.entries(filters)) {
    const value = input.text(option);
    if (value !== undefined) search.set(name, value);
  }
  return search;
}

/** The line behind a table that does not show all. */
export function moreLines(shown: number, total: number): string[] {
  return total > shown ? [`${shown} of ${total}; --limit shows more`] : [];
}
