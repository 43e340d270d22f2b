// Where the user is, as the part of the address behind its #: a path and parameters. It says all that a page shows, so that a link shows the same.

/** A route of the interface. */
export interface Route {
  /** Segments of the path, decoded: ["anomaly", "3b1f…"]. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** A range of time: the last so many ms, or two moments. */
export type Range =
  | { readonly kind: "last"; readonly ms: number }
  | { readonly kind: "fixed"; readonly fromMs: number; readonly toMs: number };

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const RELATIVE = /^(\d{1,4})([mhd])$/;
/** Ranges that are offered. */
export const RANGES = ["15m", "1h", "6h", "1d", "7d", "30d"] as const;

/** Reads what stands behind the #. An escape that is none stays as it is. */
export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#?\/?/, "");
  const at = text.indexOf("?");
  const path = (at < 0 ? text : text.slice(0, at)).split("/").filter((segment) => segment !== "");
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(at < 0 ? "" : text.slice(at + 1))) query[name] = value;
  return { path: path.map(decoded), query };
}

/** Whether a parameter says something though it is empty: what names no environment has one of its own. */
export function saysEmpty(name: string): boolean {
  return name === "environment";
}

/** The link to a route. Parameters that are empty or undefined are left out. */
export function routeLink(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && (value !== "" || saysEmpty(name))) parameters.set(name, value);
  }
  const text = parameters.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

/** The range that parameters name: `from` and `to` as times, else `range` such as 6h, else `initial`. */
export function rangeOf(query: Readonly<Record<string, string>>, initial: string): Range {
  const fromMs = Date.parse(query.from ?? "");
  const toMs = Date.parse(query.to ?? "");
  if (fromMs < toMs) return { kind: "fixed", fromMs, toMs };
  return { kind: "last", ms: relativeMs(query.range ?? initial) ?? relativeMs(initial) ?? 3_600_000 };
}

/** Milliseconds of a text such as 15m, 6h or 7d. */
export function relativeMs(text: string): number | undefined {
  const [, count, unit] = RELATIVE.exec(text) ?? [];
  return count === undefined || unit === undefined || Number(count) === 0 ? undefined : Number(count) * (UNITS[unit] as number);
}

/** The moments of a range, seen from now. */
export function rangeEnds(range: Range, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  return range.kind === "fixed" ? range : { fromMs: nowMs - range.ms, toMs: nowMs };
}

/** Parameters of a link that still shows the same tomorrow: a relative range becomes two moments. */
export function fixedQuery(query: Readonly<Record<string, string>>, initial: string, nowMs: number): Record<string, string> {
  const { fromMs, toMs } = rangeEnds(rangeOf(query, initial), nowMs);
  const { range: _, ...rest } = query;
  return { ...rest, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
