// Tenants on the main thread: the numbers that bodies carry, and how many requests each tenant and each API key may still send. Both are asked before a
// body is collected, so that a request too many costs little and stores nothing.
// What those are told who are beyond one rate, and how much of it they hear at once.

import { PreparedRefusal } from "../../../api/refusal.ts";
import { getOrMake } from "../../../core/collections/get-or-make.ts";
import { KEY_BUCKETS_MAX } from "../../../core/config/limits.ts";
import type { AccessChange } from "../../../core/protocol/access.ts";
import { DEFAULT_TENANT } from "../../../domain/access/access-policy.ts";
import { isPlan, PLANS, type Plan, type PlanRates } from "../../../domain/access/plans.ts";
import { TenantDirectory } from "../../../domain/access/tenant-directory.ts";
import { TokenBucket } from "../../../domain/access/token-bucket.ts";

/** Whose request it is. */
export interface Sender {
  readonly tenant: string;
  /** Id of an API key. */
  readonly keyId?: string;
  /** Requests a second of that key; null or absent = only what the plan allows. */
  readonly rateLimitRps?: number | null;
}

export interface TenantAdmissionDependencies {
  readonly monotonicMs: () => number;
  readonly rates: PlanRates;
  /** Told of each tenant that has not had a number before, at once. */
  readonly announce: (number: number, name: string) => void;
}

interface Allowance {
  readonly number: number;
  readonly plan: Plan;
  /** Undefined where the plan is not limited. */
  readonly bucket: TokenBucket | undefined;
}

/** Tenants, their plans and what is left of them. */
export class TenantAdmission {
  readonly #dependencies: TenantAdmissionDependencies;
  readonly #directory = new TenantDirectory([DEFAULT_TENANT]);
  readonly #tenants = new Map<string, Allowance>();
  readonly #keys = new Map<string, TokenBucket>();
  /** Refusal for those whose bucket is empty; written at the first of them, for the rate and the plan of then. */
  readonly #excess = new WeakMap<TokenBucket, Excess>();
  readonly #limited = new Map<Plan | "key", number>([...PLANS.map((plan) => [plan, 0] as const), ["key", 0]]);

  constructor(dependencies: TenantAdmissionDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes changes over; they are in force when this returns. */
  take(changes: readonly AccessChange[]): void {
    for (const change of changes) {
      if (change.type === "tenant") this.#put(change.tenant.tenant, change.tenant.plan);
      else if (change.type === "tenant-gone") this.#tenants.delete(change.tenant);
    }
  }

  #put(tenant: string, planName: string): void {
    const { monotonicMs, rates, announce } = this.#dependencies;
    const known = this.#directory.number(tenant);
    const number = known ?? this.#directory.add(tenant);
    if (known === undefined) announce(number, tenant);
    const plan = isPlan(planName) ? planName : "free";
    this.#tenants.set(tenant, { number, plan, bucket: this.#bucketFor(rates[plan], this.#tenants.get(tenant)?.bucket, monotonicMs()) });
  }

  /** Names by number, those of tenants that are gone as well. */
  get names(): readonly string[] {
    return this.#directory.names;
  }

  /** Tenants that there are. */
  get size(): number {
    return this.#tenants.size;
  }

  /** The tenant's number; undefined where there is no such tenant. */
  number(tenant: string): number | undefined {
    return this.#tenants.get(tenant)?.number;
  }

  /** Number of a tenant, also of one that is gone: what it has left behind is still its own. */
  numberOfAny(tenant: string): number | undefined {
    return this.#directory.number(tenant);
  }

  /** Requests refused for their number, by plan and for their key's own rate. */
  get limited(): ReadonlyMap<Plan | "key", number> {
    return this.#limited;
  }

  /** Lets a request in, or says why not. Every request of a key counts for the key's rate, those with telemetry for the tenant's plan. */
  admit(sender: Sender, isIngestion: boolean): Excess | undefined {
    const tenant = isIngestion ? this.#tenants.get(sender.tenant)?.bucket : undefined;
    const rate = sender.rateLimitRps ?? undefined;
    if (tenant === undefined && rate === undefined) return undefined;
    const nowMs = this.#dependencies.monotonicMs();
    const key = rate === undefined ? undefined : this.#bucketOfKey(sender.keyId ?? "", rate, nowMs);
    if (key?.take(nowMs) === false) return this.#refuse("key", key, nowMs, () => keyRefusal(key.rate));
    if (tenant === undefined || tenant.take(nowMs)) return undefined;
    key?.giveBack();
    const { plan } = this.#tenants.get(sender.tenant) as Allowance;
    return this.#refuse(plan, tenant, nowMs, () => planRefusal(sender.tenant, plan, tenant.rate));
  }

  #refuse(by: Plan | "key", bucket: TokenBucket, nowMs: number, write: () => PreparedRefusal): Excess {
    this.#limited.set(by, (this.#limited.get(by) ?? 0) + 1);
    return getOrMake(this.#excess, bucket, () => new Excess(write(), bucket.rate, nowMs));
  }

  #bucketOfKey(keyId: string, rate: number, nowMs: number): TokenBucket {
    const known = this.#keys.get(keyId);
    if (known?.rate === rate) return known;
    if (this.#keys.size >= KEY_BUCKETS_MAX) this.#forgetFull(nowMs);
    const bucket = this.#bucketFor(rate, known, nowMs) as TokenBucket;
    this.#keys.set(keyId, bucket);
    return bucket;
  }

  /** A full bucket is as good as none; where all are in use, the ones that came first go. */
  #forgetFull(nowMs: number): void {
    for (const [keyId, bucket] of this.#keys) if (bucket.isFull(nowMs)) this.#keys.delete(keyId);
    for (const keyId of this.#keys.keys()) {
      if (this.#keys.size < KEY_BUCKETS_MAX / 2) return;
      this.#keys.delete(keyId);
    }
  }

  /** The bucket of a rate: the one before where there was one, so that a change of plan is no new allowance. */
  #bucketFor(rate: number, before: TokenBucket | undefined, nowMs: number): TokenBucket | undefined {
    if (rate === Number.POSITIVE_INFINITY) return undefined;
    if (before === undefined) return new TokenBucket(rate, nowMs);
    this.#excess.delete(before);
    before.setRate(rate, nowMs);
    return before;
  }
}

function ratePer(rate: number): string {
  return rate === 1 ? "1 request per second" : `${rate} requests per second`;
}

function planRefusal(tenant: string, plan: Plan, rate: number): PreparedRefusal {
  const message = `tenant ${tenant} has the plan ${plan}, which allows ${ratePer(rate)}; nothing of this request was stored, send it again in a second, or send fewer and larger requests`;
  return new PreparedRefusal("rate_limit_exceeded", message);
}

function keyRefusal(rate: number): PreparedRefusal {
  const message = `this API key allows ${ratePer(rate)} (its rate_limit_rps); nothing of this request was done, send it again in a second, or send fewer and larger requests`;
  return new PreparedRefusal("rate_limit_exceeded", message);
}

/**
 * Requests beyond one rate. As many refusals a second as the rate allows requests are prompt, so that a refusal costs a tenant's neighbours no more than what
 * the tenant may send; the others are paced. And whoever sends more always hears of enough refusals to send again and use up what it is allowed.
 */
export class Excess {
  readonly refusal: PreparedRefusal;
  readonly #prompt: TokenBucket;

  /** `rate` in requests a second. */
  constructor(refusal: PreparedRefusal, rate: number, nowMs: number) {
    this.refusal = refusal;
    this.#prompt = new TokenBucket(rate, nowMs);
  }

  /** Whether one more request is refused without delay; counts it. */
  isPrompt(nowMs: number): boolean {
    return this.#prompt.take(nowMs);
  }
}
