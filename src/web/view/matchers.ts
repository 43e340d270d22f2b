// Matchers of labels as lines of text: service_id="checkout", one a line.

export interface Matcher {
  readonly name: string;
  readonly operator: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

const LINE = /^([^=!~\s]+)\s*(=~|!~|!=|=)\s*(.*)$/;

/** Lines of labels. */
export function matchersText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join("\n");
}

/** Reads lines; a value may stand in quotes. */
export function parseMatchers(
  text: string,
): { readonly ok: true; readonly matchers: readonly Matcher[] } | { readonly ok: false; readonly message: string } {
  const matchers: Matcher[] = [];
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "") continue;
    const found = LINE.exec(line);
    if (found === null)
      return { ok: false, message: `line ${index + 1}: write a label, an operator and a value, such as service_id="checkout"` };
    const [, name = "", operator = "=", value = ""] = found;
    const read = unquoted(value);
    if (read === undefined) return { ok: false, message: `line ${index + 1}: a quote is not closed` };
    matchers.push({ name, operator: operator as Matcher["operator"], value: read });
  }
  return matchers.length === 0 ? { ok: false, message: "without a matcher everything would be quiet" } : { ok: true, matchers };
}

function unquoted(value: string): string | undefined {
  if (!value.startsWith('"')) return value;
  try {
    const read: unknown = JSON.parse(value);
    return typeof read === "string" ? read : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an alert's labels match all; an absent label is empty. Patterns are whole-word, as the server reads them. */
export function silenced(labels: Readonly<Record<string, string>>, matchers: readonly Matcher[]): boolean {
  return matchers.every(({ name, operator, value }) => {
    const label = labels[name] ?? "";
    if (operator === "=" || operator === "!=") return (label === value) === (operator === "=");
    return matchesPattern(label, value) === (operator === "=~");
  });
}

function matchesPattern(label: string, pattern: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, "u").test(label);
  } catch {
    return false;
  }
}
