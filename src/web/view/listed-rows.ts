// Rows of an answer whose shape is not known beforehand.

type Row = Readonly<Record<string, unknown>>;

const COLUMNS_MAX = 8;

/** The first list of objects in an answer, the answer itself where it is one. */
export function listedRows(answer: unknown): readonly Row[] {
  const isRows = (value: unknown): value is readonly Row[] =>
    Array.isArray(value) && value.every((row) => typeof row === "object" && row !== null);
  if (isRows(answer)) return answer;
  if (typeof answer !== "object" || answer === null) return [];
  return Object.values(answer).find((value): value is readonly Row[] => isRows(value) && value.length > 0) ?? [];
}

/** Names of the members of the first rows, those that are simple values first. */
export function listedColumns(rows: readonly Row[]): string[] {
  const names = [...new Set(rows.slice(0, 20).flatMap((row) => Object.keys(row)))];
  const isSimple = (name: string) => rows.some((row) => row[name] !== null && typeof row[name] !== "object");
  return [...names.filter(isSimple), ...names.filter((name) => !isSimple(name))].slice(0, COLUMNS_MAX);
}
