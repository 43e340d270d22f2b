// A form's fields, and the body that they make.

export interface FormField {
  /** Name of the body's member. */
  readonly name: string;
  readonly label: string;
  readonly kind?: "text" | "number" | "choice" | "matchers" | "list" | "pairs" | "time";
  readonly choices?: readonly string[];
  readonly hint?: string;
  readonly initial?: string;
  readonly isRequired?: boolean;
}

/** Fields that are empty are left out; a list's parts stand apart by commas, pairs as name=value a line. */
export function formBody(
  fields: readonly FormField[],
  values: Readonly<Record<string, string>>,
): { body: Record<string, unknown> } | { fault: string } {
  const body: Record<string, unknown> = {};
  for (const { name, label, kind = "text", isRequired = false } of fields) {
    const text = (values[name] ?? "").trim();
    if (text === "") {
      if (isRequired) return { fault: `${label} is missing` };
      continue;
    }
    const read = readValue(kind, text);
    if (read === undefined) return { fault: `${label}: ${WANTED[kind] ?? "cannot be read"}` };
    body[name] = read;
  }
  return { body };
}

const WANTED: Readonly<Record<string, string>> = {
  number: "a number is wanted",
  pairs: "write name=value, one a line",
  time: "a time such as 2026-01-31T12:00:00Z is wanted",
};

function readValue(kind: NonNullable<FormField["kind"]>, text: string): unknown {
  if (kind === "number") return Number.isFinite(Number(text)) ? Number(text) : undefined;
  if (kind === "time") return Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString();
  if (kind === "list")
    return text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  if (kind !== "pairs") return text;
  const pairs: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const at = line.indexOf("=");
    if (at < 1) return undefined;
    pairs[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return pairs;
}
