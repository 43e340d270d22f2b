// Pages by team and service: how many, who has taken them, and what people said of them.
import { compareTexts } from "../../core/text/text-order.ts";
import { median } from "../detection/robust.ts";

export interface PagedAlert {
  readonly team: string;
  readonly serviceId: string;
  /** When it paged, ascending. */
  readonly pagesAtMs: readonly number[];
  readonly acknowledgedAtMs: number | null;
  readonly isFalsePositive: boolean;
  /** A receiver took a page of it. */
  readonly isNotified: boolean;
}

export interface PageRow {
  readonly team: string;
  readonly serviceId: string;
  readonly pages: number;
  /** Alerts that paged and of which nobody was told. */
  readonly unnotified: number;
  readonly acknowledged: number;
  readonly medianAckSeconds: number | null;
  readonly falsePositives: number;
}

/** Rows by team and service, most pages first. */
export function pageRows(alerts: readonly PagedAlert[]): PageRow[] {
  const groups = new Map<string, PagedAlert[]>();
  for (const alert of alerts) {
    const key = JSON.stringify([alert.team, alert.serviceId]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [alert]);
    else group.push(alert);
  }
  const rows = [...groups.values()].map(rowOf);
  return rows.sort((a, b) => b.pages - a.pages || compareTexts(a.team, b.team) || compareTexts(a.serviceId, b.serviceId));
}

function rowOf(alerts: readonly PagedAlert[]): PageRow {
  const { team, serviceId } = alerts[0] as PagedAlert;
  const waits = alerts.flatMap(({ acknowledgedAtMs, pagesAtMs: [first] }) =>
    acknowledgedAtMs === null || first === undefined ? [] : [Math.max(0, acknowledgedAtMs - first) / 1_000],
  );
  return {
    team,
    serviceId,
    pages: alerts.reduce((sum, { pagesAtMs }) => sum + pagesAtMs.length, 0),
    unnotified: alerts.filter(({ isNotified }) => !isNotified).length,
    acknowledged: waits.length,
    medianAckSeconds: waits.length === 0 ? null : median(waits),
    falsePositives: alerts.filter(({ isFalsePositive }) => isFalsePositive).length,
  };
}
