// Forecasts that were asked for, until their time has come and somebody asks again: then each says how wrong it was. Of memory alone: a restart forgets them.
import { FORECAST_POINTS_SCORED_MAX, FORECASTS_PER_TENANT_MAX } from "../../../core/config/prediction-limits.ts";

/** One forecast that was given out. */
export interface GivenForecast {
  /** Of the series: service, metric, environment. */
  readonly key: string;
  readonly madeAtMs: number;
  readonly points: readonly { readonly timeMs: number; readonly predicted: number; readonly lower: number; readonly upper: number }[];
}

/** How a past forecast did. */
export interface ForecastScore {
  readonly madeAtMs: number;
  /** Points whose time has come and that have a value. */
  readonly points: number;
  readonly meanAbsoluteError: number;
  /** Share of the values that lay within the bounds. */
  readonly coverage: number;
}

export class ForecastBook {
  /** Of each tenant, oldest first. */
  readonly #byTenant = new Map<string, GivenForecast[]>();

  /** Remembers a forecast; the oldest of the tenant goes where there are too many. */
  add(tenant: string, forecast: GivenForecast): void {
    const known = this.#byTenant.get(tenant) ?? [];
    this.#byTenant.set(tenant, known);
    known.push({ ...forecast, points: forecast.points.slice(0, FORECAST_POINTS_SCORED_MAX) });
    if (known.length > FORECASTS_PER_TENANT_MAX) known.shift();
  }

  /** The score of the oldest remembered forecast of a series that has points whose time has come. `valueAt` is what came; undefined where nothing did. */
  score(tenant: string, key: string, valueAt: (timeMs: number) => number | undefined): ForecastScore | undefined {
    for (const { key: of, madeAtMs, points } of this.#byTenant.get(tenant) ?? []) {
      if (of !== key) continue;
      let [count, error, inside] = [0, 0, 0];
      for (const { timeMs, predicted, lower, upper } of points) {
        const value = valueAt(timeMs);
        if (value === undefined) continue;
        count++;
        error += Math.abs(value - predicted);
        inside += Number(value >= lower && value <= upper);
      }
      if (count > 0) return { madeAtMs, points: count, meanAbsoluteError: error / count, coverage: inside / count };
    }
    return undefined;
  }
}
