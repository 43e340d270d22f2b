// A change of settings: what differs from what is in force, and what a backtest says of it.

type Value = number | string | boolean;

/** Members that differ, in the types that they have; what is no number is left as text for the server to refuse. */
export function changedSettings(
  inForce: Readonly<Record<string, { readonly value: Value }>>,
  typed: Readonly<Record<string, string>>,
): Record<string, Value> {
  const changed: Record<string, Value> = {};
  for (const [name, { value }] of Object.entries(inForce)) {
    const text = typed[name];
    if (text === undefined || text === String(value)) continue;
    changed[name] =
      typeof value === "boolean" ? text === "true" : typeof value === "number" && Number.isFinite(Number(text)) ? Number(text) : text;
  }
  return changed;
}

interface Pages {
  readonly before: number;
  readonly after: number;
  readonly newly: number;
  readonly no_longer: number;
}

/** "Would have paged 12 times less and 1 time more: 3 pages instead of 14." */
export function backtestText({ before, after, newly, no_longer }: Pages): string {
  const times = (count: number) => (count === 1 ? "once" : `${count} times`);
  if (newly === 0 && no_longer === 0) return `It would have paged as it did: ${before === 1 ? "1 page" : `${before} pages`}.`;
  const parts = [no_longer > 0 && `${times(no_longer)} less`, newly > 0 && `${times(newly)} more`].filter((part) => part !== false);
  return `It would have paged ${parts.join(" and ")}: ${after} instead of ${before}.`;
}
