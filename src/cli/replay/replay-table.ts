// The rows of a replayed file as a server would have had them: a stream for each column, and the times at which samples came.
import { BACKTEST_FILE_SAMPLES_MAX } from "../../core/config/backtest-limits.ts";
import type { BacktestSeries } from "../../domain/backtest/history.ts";
import { flagsOfRecord } from "../../domain/series/classification.ts";
import type { CsvRow } from "./csv-rows.ts";
import { ReplayError } from "./replay-options.ts";

const TENANT = "default";
/** Service of a table, which names none. */
const TABLE_SERVICE = "file";

interface Column {
  readonly times: number[];
  readonly values: number[];
}

/** Rows in order; one that is late is passed over: a server stores late samples and does not judge them. */
export class ReplayTable {
  #columns: Column[] = [];
  #samples = 0;
  /** Distinct times of the rows that are judged, and of each row of output its text and the place of its time. */
  readonly times: number[] = [];
  readonly rows: Array<{ readonly timestamp: string; readonly place: number }> = [];

  /** Takes a row; of the history before the replay it is `isHistory`. Throws ReplayError where there are too many. */
  take(path: string, { isLate, timestamp, timeMs, values }: CsvRow, isHistory: boolean): void {
    if (!isLate) {
      for (const [column, value] of values.entries()) this.#add(column, timeMs, value);
      if (!isHistory && this.times.at(-1) !== timeMs) this.times.push(timeMs);
      if (this.#samples > BACKTEST_FILE_SAMPLES_MAX)
        throw new ReplayError(`${path} has more than ${BACKTEST_FILE_SAMPLES_MAX} values; give a shorter one`);
    }
    if (!isHistory) this.rows.push({ timestamp, place: this.times.length - 1 });
  }

  series(metrics: readonly string[]): BacktestSeries[] {
    return this.#columns.flatMap(({ times, values }, column): BacktestSeries[] => {
      if (times.length === 0) return [];
      const metricName = metrics[column] as string;
      const name = { tenant: TENANT, environment: "", serviceId: TABLE_SERVICE, metricName, attributes: {} };
      const flags = flagsOfRecord("metric", metricName, {});
      return [{ name, flags, times: Float64Array.from(times), values: Float64Array.from(values) }];
    });
  }

  #add(place: number, timeMs: number, value: number): void {
    this.#columns[place] ??= { times: [], values: [] };
    if (Number.isNaN(value)) return;
    const column = this.#columns[place];
    column.times.push(timeMs);
    column.values.push(value);
    this.#samples++;
  }
}
