// Which scopes carry their names in the identities of their streams, for one engine. The first scope of a metric is agreed on with the other engines in words of the process;
// the unit of work that first depends on it has it too, so that it is in the log whenever a stream is that was defined by it.

import type { EngineMemory, ProcessSlots } from "../../../adapters/shared-memory/engine-memory.ts";
import { NO_SCOPE_INDEX } from "../../../adapters/shared-memory/first-scopes.ts";
import { BoundedMap } from "../../../core/collections/bounded-map.ts";
import { SCOPES_REMEMBERED_MAX } from "../../../core/config/metric-limits.ts";
import type { ShareLedger } from "../../../core/fairness/share-ledger.ts";
import type { MetricScopeEnvelope } from "../../../core/protocol/coordinator-frame.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import type { DistributionPoint, MetricHead, NumberPoint } from "../../../domain/otlp/otlp-items.ts";
import { type MetricScope, scopedAttributes } from "../../../domain/series/metric-scope.ts";
import { isName } from "../../../domain/series/name-rule.ts";
import { contentHash } from "./content-hash.ts";
import type { WorkUnit } from "./work-unit.ts";

export interface MetricScopesDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly processSlots: Pick<ProcessSlots, "scopes">;
  /** Who holds how many metrics with a first scope. */
  readonly shares: ShareLedger;
  readonly tenantName: (index: number) => string;
  readonly tenantIndex: (name: string) => number;
  /** Tenants that are known. */
  readonly tenants: () => number;
}

/** Of a tenant by its index. */
interface OwnedScope extends MetricScope {
  readonly tenant: number;
  readonly serviceId: string;
  /** "" for none. */
  readonly environment: string;
}

/** One engine's. */
export class MetricScopes {
  readonly #dependencies: MetricScopesDependencies;
  /** By tenant, service, environment, metric and scope: whether it was another that was first. */
  readonly #isOther = new BoundedMap<string, boolean>(SCOPES_REMEMBERED_MAX);
  /** Places that the unit at hand has. */
  readonly #unsaved = new Set<number>();

  constructor(dependencies: MetricScopesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes what is stored or in the log. */
  restore({ tenant, metric, scope }: MetricScopeEnvelope): void {
    const { processSlots, shares, tenantIndex } = this.#dependencies;
    const { scopes } = processSlots;
    const key = BigInt(metric);
    if (scopes.add(key)) {
      scopes.places.restore(Number.POSITIVE_INFINITY);
      scopes.places.claim(tenantIndex(tenant), shares.most);
      shares.add(tenant);
    }
    const index = scopes.find(key);
    if (index === NO_SCOPE_INDEX) return;
    scopes.claim(index, scope);
    scopes.markStored(index);
  }

  /** The point as its stream is named. */
  number(point: NumberPoint, tenant: number, unit: WorkUnit): NumberPoint {
    if (!this.#isOtherOf(point, tenant, unit)) return point;
    return { ...point, attributes: () => scopedAttributes(point.attributes(), point.scope) };
  }

  /** The same of a histogram or a summary. */
  distribution(point: DistributionPoint, head: MetricHead, tenant: number, unit: WorkUnit): DistributionPoint {
    if (!this.#isOtherOf(head, tenant, unit)) return point;
    return { ...point, attributes: scopedAttributes(point.attributes, head.scope) };
  }

  /** Whether the scope carries its name; it is the first from now on where there was none. */
  isOther(input: OwnedScope, unit: WorkUnit): boolean {
    const key = `${input.tenant}\0${input.serviceId}\0${input.environment}\0${input.metricName}\0${input.name}`;
    const known = this.#isOther.get(key);
    if (known !== undefined) return known;
    const found = this.#find(input, unit);
    this.#isOther.set(key, found);
    return found;
  }

  /** Notes that what the unit had is in the log. */
  saved(): void {
    for (const index of this.#unsaved) this.#dependencies.processSlots.scopes.markStored(index);
    this.#unsaved.clear();
  }

  /** The unit is not in the log: the next that depends on what it had has it again. */
  forget(): void {
    this.#unsaved.clear();
    this.#isOther.clear();
  }

  #isOtherOf({ source, metricName, scope: name }: MetricHead, tenant: number, unit: WorkUnit): boolean {
    const { serviceId, environment, resourceRefusal } = source;
    if (resourceRefusal !== undefined || !isName(metricName)) return false;
    return this.isOther({ tenant, serviceId, environment, metricName, name }, unit);
  }

  /** Where there is no room to remember the first one, each carries its name that has one. */
  #find({ tenant, serviceId, environment, metricName, name }: OwnedScope, unit: WorkUnit): boolean {
    const { processSlots, tenantName } = this.#dependencies;
    const { scopes } = processSlots;
    const owner = tenantName(tenant);
    const key =
      BigInt.asIntN(64, BigInt(`0x${this.#hash(JSON.stringify(namesOfMetric(owner, serviceId, environment, metricName))).slice(0, 16)}`)) |
      1n;
    const index = this.#index(key, tenant);
    if (index === NO_SCOPE_INDEX) return name !== "";
    const own = Number.parseInt(this.#hash(`scope ${name}`).slice(0, 8), 16) | 0 || 1;
    const first = scopes.claim(index, own);
    if (!scopes.isStored(index) && !this.#unsaved.has(index)) {
      unit.addMetricScope({ tenant: owner, metric: String(key), scope: first });
      this.#unsaved.add(index);
    }
    return first !== own;
  }

  #index(key: bigint, tenant: number): number {
    const { processSlots, shares, tenants, tenantName } = this.#dependencies;
    const { scopes } = processSlots;
    const known = scopes.find(key);
    if (known !== NO_SCOPE_INDEX) return known;
    if (!scopes.places.take(tenant, shares.most, tenants())) {
      shares.refuse(tenantName(tenant));
      return NO_SCOPE_INDEX;
    }
    if (scopes.add(key)) shares.add(tenantName(tenant));
    else scopes.places.give(tenant, shares.most);
    return scopes.find(key);
  }

  #hash(text: string): string {
    return contentHash(text, this.#dependencies);
  }
}

/** Instances of a service in one environment share the first scope, so that a scope has one name on all of them, whichever was first on each. */
function namesOfMetric(owner: string, serviceId: string, environment: string, metricName: string): readonly string[] {
  return environment === "" ? [owner, serviceId, metricName] : [owner, serviceId, metricName, environment];
}
