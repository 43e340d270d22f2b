// Addresses of charts that are read without a session, by whoever shows a message: each opens one alert's chart, until it ends.
import { createHmac, timingSafeEqual } from "node:crypto";
import { SECOND_MS } from "../../core/time/durations.ts";

/** Validity of an address. */
const CHART_LINK_MS = 7 * 24 * 3600_000;
const PATH = "/api/v1/alerts";

export interface ChartOf {
  readonly tenant: string;
  readonly alertId: string;
}

/** Parameters of an address, as they came. */
export interface ChartSignature {
  /** In seconds since 1970. */
  readonly expires: string;
  readonly signature: string;
}

/** The key of signatures, from a secret of the server. */
export function chartKey(secret: string): Uint8Array {
  return createHmac("sha256", secret).update("addresses of charts").digest();
}

/** Path and query of an alert's chart, good for seven days. */
export function chartTarget(key: Uint8Array, chart: ChartOf, nowMs: number): string {
  const expires = String(Math.floor((nowMs + CHART_LINK_MS) / SECOND_MS));
  const query = new URLSearchParams({ tenant_id: chart.tenant, expires, signature: sign(key, chart, expires).toString("hex") });
  return `${PATH}/${encodeURIComponent(chart.alertId)}/chart.png?${query.toString()}`;
}

/** Whether a signature is ours and its time not over. */
export function isChartSignature(key: Uint8Array, chart: ChartOf, { expires, signature }: ChartSignature, nowMs: number): boolean {
  const endMs = Number(expires) * SECOND_MS;
  if (!(endMs > nowMs) || endMs > nowMs + CHART_LINK_MS + SECOND_MS) return false;
  const own = sign(key, chart, expires);
  // Compared as text: a reader of hexadecimal digits passes over what stands behind the last pair.
  const [wanted, input] = [Buffer.from(own.toString("hex")), Buffer.from(signature)];
  return input.length === wanted.length && timingSafeEqual(input, wanted);
}

function sign(key: Uint8Array, { tenant, alertId }: ChartOf, expires: string): Buffer {
  return createHmac("sha256", key)
    .update(JSON.stringify([tenant, alertId, expires]))
    .digest();
}
