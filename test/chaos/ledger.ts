// What the server has acknowledged, and whether it is all there: each sample by its series, each log by its text. Looked through piece by piece, since the oldest
// are looked at long before the end.

import { readPages } from "../fault/holdings.ts";
import type { ServerProcess } from "../support/server-process.ts";

/** A series as it is asked for. */
export interface LedgerSeries {
  readonly service_id: string;
  readonly metric_name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

interface Held extends LedgerSeries {
  /** Acknowledged, not yet seen: value by time. */
  readonly due: Map<number, number>;
}

const MISSING_SHOWN = 5;
/** What /api/v1/series/data gives at once. */
const POINTS_MAX = 10_000;

export class Ledger {
  samples = 0;
  logs = 0;
  /** Lines of what was acknowledged and is not there. */
  readonly lost: string[] = [];
  #lostCount = 0;
  readonly #series = new Map<string, Held>();
  readonly #logs = new Map<string, Map<string, number>>();

  get lostCount(): number {
    return this.#lostCount;
  }

  /** Writes down a sample that was acknowledged. */
  sample(series: LedgerSeries, timeMs: number, value: number): void {
    const key = JSON.stringify([series.service_id, series.metric_name, series.attributes]);
    let held = this.#series.get(key);
    if (held === undefined) {
      held = { ...series, due: new Map() };
      this.#series.set(key, held);
    }
    held.due.set(timeMs, value);
    this.samples++;
  }

  /** Writes down a log record that was acknowledged; its text is one of a kind. */
  log(serviceId: string, timeMs: number, body: string): void {
    let due = this.#logs.get(serviceId);
    if (due === undefined) {
      due = new Map();
      this.#logs.set(serviceId, due);
    }
    due.set(body, timeMs);
    this.logs++;
  }

  /** Reads back what has been acknowledged since the last time. */
  async check(server: ServerProcess): Promise<void> {
    for (const held of this.#series.values()) await this.#checkSeries(server, held);
    for (const [serviceId, due] of this.#logs) await this.#checkLogs(server, serviceId, due);
  }

  async #checkSeries(server: ServerProcess, { due, ...series }: Held): Promise<void> {
    const wanted = [...due].sort(([a], [b]) => a - b);
    due.clear();
    for (let first = 0; first < wanted.length; first += POINTS_MAX / 2) {
      const piece = wanted.slice(first, first + POINTS_MAX / 2);
      const found = await pointsBetween(server, series, (piece[0] as [number, number])[0], (piece.at(-1) as [number, number])[0]);
      for (const [timeMs, value] of piece) {
        if (found.get(timeMs) === value) continue;
        this.#miss(`${series.service_id} ${series.metric_name} at ${new Date(timeMs).toISOString()}: ${value}, not ${found.get(timeMs)}`);
      }
    }
  }

  async #checkLogs(server: ServerProcess, serviceId: string, due: Map<string, number>): Promise<void> {
    const wanted = [...due];
    due.clear();
    if (wanted.length === 0) return;
    const times = wanted.map(([, timeMs]) => timeMs);
    const query = { ...range(Math.min(...times), Math.max(...times)), service_id: serviceId, type: "log" };
    const rows = await readPages<{ body: string }>(server, "/api/v1/records", "records", query);
    const found = new Set(rows.map(({ body }) => body));
    for (const [body] of wanted) if (!found.has(body)) this.#miss(`${serviceId} log ${JSON.stringify(body)}`);
  }

  #miss(what: string): void {
    this.#lostCount++;
    if (this.lost.length < MISSING_SHOWN) this.lost.push(what);
  }
}

function range(fromMs: number, toMs: number): { since: string; until: string } {
  return { since: new Date(fromMs - 1).toISOString(), until: new Date(toMs + 1_000).toISOString() };
}

async function pointsBetween(server: ServerProcess, series: LedgerSeries, fromMs: number, toMs: number): Promise<Map<number, number>> {
  const { service_id, metric_name, attributes } = series;
  const query = { ...range(fromMs, toMs), service_id, metric_name, attributes: JSON.stringify(attributes), limit: String(POINTS_MAX) };
  const { points } = await server.get<{ points: Array<{ timestamp: string; value: number }> }>("/api/v1/series/data", query);
  return new Map(points.map(({ timestamp, value }) => [Date.parse(timestamp), value]));
}
