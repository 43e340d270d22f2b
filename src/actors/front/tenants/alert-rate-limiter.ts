// How many requests with alerts come in: so many a second of a tenant, and of one address at the port that asks for no credential. What is more gets 503, after
// which an Alertmanager sends it again; after any 4xx, 429 among them, it would drop the alerts.
import type { Refusal } from "../../../api/refusal.ts";
import {
  ALERT_ADDRESSES_MAX,
  ALERT_REQUESTS_PER_ADDRESS_MAX,
  ALERT_REQUESTS_PER_SECOND_MAX,
} from "../../../core/config/analysis-limits.ts";
import { TokenBucket } from "../../../domain/access/token-bucket.ts";

/** Rates of alerts. Times are of a monotonic clock, in ms. */
export class AlertRateLimiter {
  readonly #tenants = new Map<string, TokenBucket>();
  readonly #addresses = new Map<string, TokenBucket>();

  /** Why a request of this tenant is not taken now; undefined where it is. */
  refuseTenant(tenant: string, nowMs: number): Refusal | undefined {
    return take(this.#tenants, tenant, ALERT_REQUESTS_PER_SECOND_MAX, nowMs) ? undefined : refusal("tenant", ALERT_REQUESTS_PER_SECOND_MAX);
  }

  /** Why a request from this address is not taken now; undefined where it is. */
  refuseAddress(address: string, nowMs: number): Refusal | undefined {
    return take(this.#addresses, address, ALERT_REQUESTS_PER_ADDRESS_MAX, nowMs)
      ? undefined
      : refusal("address", ALERT_REQUESTS_PER_ADDRESS_MAX);
  }
}

function take(buckets: Map<string, TokenBucket>, of: string, rate: number, nowMs: number): boolean {
  let bucket = buckets.get(of);
  if (bucket === undefined) {
    if (buckets.size >= ALERT_ADDRESSES_MAX) forget(buckets, nowMs);
    bucket = new TokenBucket(rate, nowMs);
    buckets.set(of, bucket);
  }
  return bucket.take(nowMs);
}

/** A full bucket is as good as none; where all are in use, the ones that came first go. */
function forget(buckets: Map<string, TokenBucket>, nowMs: number): void {
  for (const [of, bucket] of buckets) if (bucket.isFull(nowMs)) buckets.delete(of);
  for (const of of buckets.keys()) {
    if (buckets.size < ALERT_ADDRESSES_MAX / 2) return;
    buckets.delete(of);
  }
}

function refusal(whose: string, rate: number): Refusal {
  return {
    code: "overloaded",
    message: `more than ${rate} requests with alerts came from this ${whose} in a second; send it again shortly`,
  };
}
