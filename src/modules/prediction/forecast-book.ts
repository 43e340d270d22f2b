// Forecasts that were asked for, until their time has come and somebody asks again: then each says how wrong it was. Stored, so that a restart forgets none.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { FORECAST_POINTS_SCORED_MAX, FORECASTS_PER_TENANT_MAX } from "../../core/config/prediction-limits.ts";
import { scan } from "../state/scan.ts";
import { list, number, object, StoredForm, text } from "../state/stored-json.ts";
import { tenantTimeKey } from "../state/tables.ts";

/** One point of a forecast. */
interface PointInput {
  readonly timeMs: number;
  readonly predicted: number;
  readonly lower: number;
  readonly upper: number;
}

/** One forecast that was given out. */
export interface ForecastInput {
  /** 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  /** Key of the series: service, metric, environment, step. */
  readonly key: string;
  readonly madeAtMs: number;
  readonly points: readonly PointInput[];
}

const FORECAST = new StoredForm<ForecastInput>("forecasts", {
  id: text,
  tenant: text,
  key: text,
  madeAtMs: number,
  points: list(object<PointInput>({ timeMs: number, predicted: number, lower: number, upper: number })),
});

/** Score of a past forecast. */
export interface ForecastScore {
  readonly madeAtMs: number;
  /** Points whose time has come and that have a value. */
  readonly points: number;
  readonly meanAbsoluteError: number;
  /** Share of the values that lay within the bounds. */
  readonly coverage: number;
}

export class ForecastBook {
  /** Forecasts of each tenant, oldest first. */
  readonly #byTenant = new Map<string, ForecastInput[]>();

  /** Reads the store; to be called once. */
  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "forecasts")) this.put(FORECAST.decode(value));
  }

  get tenants(): Iterable<string> {
    return this.#byTenant.keys();
  }

  /** Stored form of one: its first FORECAST_POINTS_SCORED_MAX points, in the place of the tenant's oldest where there are too many. */
  draft(forecast: ForecastInput): { readonly forecast: ForecastInput; readonly operations: readonly StoreOperation[] } {
    const retained = { ...forecast, points: forecast.points.slice(0, FORECAST_POINTS_SCORED_MAX) };
    const known = this.#byTenant.get(forecast.tenant) ?? [];
    const gone = known.slice(0, Math.max(0, known.length + 1 - FORECASTS_PER_TENANT_MAX));
    return {
      forecast: retained,
      operations: [{ table: "forecasts", key: keyOf(retained), value: FORECAST.encode(retained) }, ...gone.map(forecastRemoval)],
    };
  }

  /** Takes over one that is stored. */
  put(forecast: ForecastInput): void {
    const known = this.#byTenant.get(forecast.tenant) ?? [];
    this.#byTenant.set(forecast.tenant, known);
    known.push(forecast);
    if (known.length > FORECASTS_PER_TENANT_MAX) known.shift();
  }

  /** Those of a tenant that were made before, at most so many. */
  expired(tenant: string, beforeMs: number, limit: number): ForecastInput[] {
    return (this.#byTenant.get(tenant) ?? []).slice(0, limit).filter(({ madeAtMs }) => madeAtMs < beforeMs);
  }

  remove({ tenant, id }: ForecastInput): void {
    const left = (this.#byTenant.get(tenant) ?? []).filter((one) => one.id !== id);
    if (left.length > 0) this.#byTenant.set(tenant, left);
    else this.#byTenant.delete(tenant);
  }

  /**
   * The score of that remembered forecast of a series of which most points have come, the newest of equal ones. `valueAt` is what came; undefined where nothing
   * did.
   */
  score(tenant: string, key: string, valueAt: (timeMs: number) => number | undefined): ForecastScore | undefined {
    let best: ForecastScore | undefined;
    for (const forecast of this.#byTenant.get(tenant) ?? []) {
      const score = forecast.key === key ? scoreOf(forecast, valueAt) : undefined;
      if (score !== undefined && score.points >= (best?.points ?? 1)) best = score;
    }
    return best;
  }
}

/** Deletes one. */
export function forecastRemoval(forecast: ForecastInput): StoreOperation {
  return { table: "forecasts", key: keyOf(forecast), value: undefined };
}

function keyOf({ tenant, madeAtMs, id }: ForecastInput): Uint8Array {
  return tenantTimeKey(tenant, madeAtMs, id);
}

function scoreOf({ madeAtMs, points }: ForecastInput, valueAt: (timeMs: number) => number | undefined): ForecastScore {
  let [count, error, inside] = [0, 0, 0];
  for (const { timeMs, predicted, lower, upper } of points) {
    const value = valueAt(timeMs);
    if (value === undefined) continue;
    count++;
    error += Math.abs(value - predicted);
    inside += Number(value >= lower && value <= upper);
  }
  return { madeAtMs, points: count, meanAbsoluteError: count === 0 ? 0 : error / count, coverage: count === 0 ? 0 : inside / count };
}
