// Levels that people have taken for the usual ones, for detectors that look at a pair only now and then: the level is accepted with the first value from that time on.
import { ACCEPTED_LEVELS_REMEMBERED_MAX } from "../../../core/config/limits.ts";
import type { AcceptedPair } from "../../../core/protocol/accepted-level.ts";
import { serviceKey } from "../../series/stream-identity.ts";
import { NOTICE_REMEMBERED_MS } from "./deployments.ts";

/** A pair of a tenant whose level was accepted. */
export interface TenantPair extends AcceptedPair {
  readonly tenant: string;
}

/** The newest acceptance of each pair, by partition. */
export class AcceptedLevels {
  readonly #byService = new Map<string, Map<string, TenantPair & { readonly partition: number }>>();
  #size = 0;

  take(partition: number, pair: TenantPair): void {
    const service = serviceKey(pair.tenant, pair.serviceId);
    const pairs = this.#byService.get(service) ?? new Map();
    const key = pairKey(pair.environment, pair.metricName);
    const known = pairs.get(key);
    if (known === undefined) this.#size++;
    else if (known.atMs >= pair.atMs) return;
    pairs.set(key, { ...pair, partition });
    this.#byService.delete(service);
    this.#byService.set(service, pairs);
    if (this.#size > ACCEPTED_LEVELS_REMEMBERED_MAX) this.#forget(this.#byService.keys().next().value as string);
  }

  /** When the level of a pair of the service by serviceKey() was accepted, in ms on the clock of its samples; 0 for never. `nameOf` is asked, for `of`, only where one was. */
  at<T>(service: string, nameOf: (of: T) => Pick<AcceptedPair, "environment" | "metricName">, of: T): number {
    const pairs = this.#byService.get(service);
    if (pairs === undefined) return 0;
    const { environment, metricName } = nameOf(of);
    return pairs.get(pairKey(environment, metricName))?.atMs ?? 0;
  }

  /** Acceptances of a partition's pairs. */
  ofPartition(partition: number): TenantPair[] {
    const found = [...this.#byService.values()].flatMap((pairs) => [...pairs.values()].filter((pair) => pair.partition === partition));
    return found.map(({ partition: _, ...pair }) => pair);
  }

  forgetBefore(nowMs: number): void {
    for (const [key, pairs] of this.#byService) {
      if ([...pairs.values()].every(({ atMs }) => atMs < nowMs - NOTICE_REMEMBERED_MS)) this.#forget(key);
    }
  }

  #forget(service: string): void {
    this.#size -= this.#byService.get(service)?.size ?? 0;
    this.#byService.delete(service);
  }
}

function pairKey(environment: string, metricName: string): string {
  return JSON.stringify([environment, metricName]);
}
