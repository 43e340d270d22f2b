// A backtest as people read it at a terminal.
import type { BacktestView } from "../../api/backtest-view.ts";

const ROWS_SHOWN = 40;
const PAGES_SHOWN = 10;

/** Lines of the answer. */
export function backtestLines({
  since,
  until,
  series,
  samples,
  pages,
  findings,
  analyses,
  layers,
  labelled,
  newly,
  no_longer,
  by_service,
}: BacktestView): string[] {
  const lines = [
    `${series} series, ${samples} samples, ${since} to ${until}`,
    `pages: ${pages.before} as it is, ${pages.after} with the changes (${pages.newly} new, ${pages.no_longer} no longer)`,
    `findings as it is: ${countsText(findings.before)}; with the changes: ${countsText(findings.after)}`,
    ...(analyses.before === analyses.after ? [] : [`analyses begun: ${analyses.before} as it is, ${analyses.after} with the changes`]),
    ...labelledLines(labelled),
    ...layers.filter(({ reason }) => reason !== null).map(({ layer, reason }) => `${layer}: ${reason}`),
  ];
  const changed = by_service.filter((row) => row.newly + row.no_longer > 0);
  if (changed.length > 0) lines.push("", row("day", "as is", "changed", "new", "no longer", "service"));
  for (const { day, before, after, newly: more, no_longer: fewer, service_id } of changed.slice(0, ROWS_SHOWN))
    lines.push(row(day, before, after, more, fewer, service_id));
  if (changed.length > ROWS_SHOWN) lines.push(`... and ${changed.length - ROWS_SHOWN} more`);
  lines.push(...pageLines("would newly page", newly, pages.newly), ...pageLines("would no longer page", no_longer, pages.no_longer));
  return lines;
}

function labelledLines({ incidents, false_alarms, before, after }: BacktestView["labelled"]): string[] {
  const found = `labelled incidents found: ${before.found} of ${incidents} as it is, ${after.found} with the changes`;
  const alarms = `pages of labelled false alarms: ${before.false_pages} as it is, ${after.false_pages} with the changes`;
  return [...(incidents === 0 ? [] : [found]), ...(false_alarms === 0 ? [] : [alarms])];
}

function pageLines(title: string, pages: BacktestView["newly"], total: number): string[] {
  if (total === 0) return [];
  const shown = pages
    .slice(0, PAGES_SHOWN)
    .map(
      ({ timestamp, service_id, metric_name, severity, reason, explanation }) =>
        `  ${timestamp} ${service_id} ${metric_name} ${severity} (in the other: ${reason}): ${explanation}`,
    );
  return ["", `${title}:`, ...shown, ...(total > shown.length ? [`  ... and ${total - shown.length} more`] : [])];
}

function row(
  day: string,
  before: string | number,
  after: string | number,
  newly: string | number,
  noLonger: string | number,
  service: string,
): string {
  const [a, b, c, d] = [before, after, newly, noLonger].map((cell) => String(cell).padStart(9));
  return `${day.padEnd(10)} ${a} ${b} ${c} ${d}  ${service}`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? "none" : entries.map(([name, count]) => `${count} ${name}`).join(", ");
}
