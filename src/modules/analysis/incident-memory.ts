// Past incidents, for what was like them and what helped: signatures in memory, one row each in the store. Resolutions outlive the anomalies that they
// resolved; of incidents without one the oldest go first where there are too many.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { getOrMake } from "../../core/collections/get-or-make.ts";
import { SharedTexts } from "../../core/collections/shared-texts.ts";
import { REMEMBERED_INCIDENTS_PER_TENANT_MAX } from "../../core/config/analysis-limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import type { RootCauseCategory } from "../../domain/rca/category.ts";
import { SimilarIncidents } from "../../domain/rca/similar.ts";
import { scan } from "../state/scan.ts";
import { flag, list, nullable, number, object, oneOf, StoredForm, text } from "../state/stored-json.ts";
import { unpackSignature } from "./report-row.ts";

/** Description by somebody of how an incident was resolved (contract 2.11). */
export interface Resolution {
  readonly id: string;
  readonly serviceId: string;
  readonly text: string;
  readonly by: string;
  readonly minutes: number;
  readonly tags: readonly string[];
  readonly atMs: number;
}

export interface RememberedIncident {
  readonly tenant: string;
  readonly environment: string;
  /** The anomaly that began it. */
  readonly incidentId: string;
  readonly reportId: string;
  /** Service of the first candidate. */
  readonly serviceId: string;
  readonly category: RootCauseCategory;
  readonly atMs: number;
  readonly enough: boolean;
  /** Services that were the first candidate and that showed symptoms: what blast radii are learned from. */
  readonly affected: readonly string[];
  readonly signature: readonly number[];
  readonly resolution: Resolution | null;
}

const INCIDENT = new StoredForm<RememberedIncident>("incident_memory", {
  tenant: text,
  environment: text,
  incidentId: text,
  reportId: text,
  serviceId: text,
  category: oneOf(["infrastructure", "application", "external", "unknown"]),
  atMs: number,
  enough: flag,
  affected: list(text),
  signature: list(number),
  resolution: nullable(object<Resolution>({ id: text, serviceId: text, text, by: text, minutes: number, tags: list(text), atMs: number })),
});

/** Part of an incident that is in memory, about 250 bytes: the rest is read from its row, or follows from its id. */
export type IncidentEntry = Omit<RememberedIncident, "reportId" | "signature">;

/** One that is like another. */
export interface SimilarMatch {
  readonly incident: IncidentEntry;
  readonly similarity: number;
  readonly why: readonly string[];
}

/** Beyond, names are kept anew. */
const NAMES_MAX = 20_000;

interface TenantMemory {
  readonly incidents: IncidentEntry[];
  readonly places: Map<string, number>;
  /** Names that many incidents have in common, each once. */
  readonly names: SharedTexts;
  readonly similar: SimilarIncidents;
}

/** The id under which a resolution is kept. */
export function knowledgeIdOf(tenant: string, incidentId: string): string {
  return hash128(JSON.stringify(["resolution", tenant, incidentId]));
}

export class IncidentMemory {
  readonly #store: KeyValueStore;
  readonly #tenants = new Map<string, TenantMemory>();

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Reads the store; to be called once. 100,000 incidents take about a second. */
  load(): void {
    for (const { value } of scan(this.#store, "incident_memory")) this.put(INCIDENT.decode(value));
  }

  /** The incident that an anomaly began. */
  find(tenant: string, incidentId: string): RememberedIncident | undefined {
    if (!this.#of(tenant).places.has(incidentId)) return undefined;
    const value = this.#store.get("incident_memory", keyOf({ tenant, incidentId }));
    return value === undefined ? undefined : INCIDENT.decode(value);
  }

  all(tenant: string): readonly IncidentEntry[] {
    return this.#of(tenant).incidents;
  }

  /** Operations that store an incident, and that delete the one that goes for want of room. */
  operations(incident: RememberedIncident): StoreOperation[] {
    const { tenant } = incident;
    const memory = this.#of(tenant);
    const operations: StoreOperation[] = [{ table: "incident_memory", key: keyOf(incident), value: INCIDENT.encode(incident) }];
    if (memory.places.has(incident.incidentId) || memory.incidents.length < REMEMBERED_INCIDENTS_PER_TENANT_MAX) return operations;
    const oldest = this.#leastNeeded(memory);
    return [...operations, { table: "incident_memory", key: keyOf(oldest), value: undefined }];
  }

  /** Takes a stored incident over. */
  put(incident: RememberedIncident): void {
    const memory = this.#of(incident.tenant);
    const index = memory.places.get(incident.incidentId) ?? this.#indexFor(memory);
    const replaced = memory.incidents[index];
    if (replaced !== undefined) memory.places.delete(replaced.incidentId);
    memory.incidents[index] = entryOf(incident, memory.names);
    memory.places.set(incident.incidentId, index);
    const signature = unpackSignature(incident.signature);
    if (index === memory.similar.size) memory.similar.add(signature);
    else memory.similar.put(index, signature);
  }

  /** The nearest others of a tenant and environment. */
  nearest(tenant: string, environment: string, signature: Float32Array, count: number, leftOut: string): SimilarMatch[] {
    const memory = this.#of(tenant);
    const isLeftOut = (index: number) => {
      const incident = memory.incidents[index]!;
      return incident.incidentId === leftOut || incident.environment !== environment || !incident.enough;
    };
    return memory.similar.nearest(signature, count, isLeftOut).map(({ index, similarity, why }) => ({
      incident: memory.incidents[index]!,
      similarity,
      why,
    }));
  }

  #of(tenant: string): TenantMemory {
    return getOrMake(this.#tenants, tenant, () => {
      return { incidents: [], places: new Map(), names: new SharedTexts(NAMES_MAX), similar: new SimilarIncidents() };
    });
  }

  #indexFor(memory: TenantMemory): number {
    if (memory.incidents.length < REMEMBERED_INCIDENTS_PER_TENANT_MAX) return memory.incidents.length;
    return memory.incidents.indexOf(this.#leastNeeded(memory));
  }

  /** The oldest without a resolution, else the oldest. */
  #leastNeeded({ incidents }: TenantMemory): IncidentEntry {
    const older = (a: IncidentEntry, b: IncidentEntry) => (b.atMs < a.atMs ? b : a);
    const bare = incidents.filter(({ resolution }) => resolution === null);
    return (bare.length > 0 ? bare : incidents).reduce(older);
  }
}

function entryOf(
  { tenant, environment, incidentId, serviceId, category, atMs, enough, affected, resolution }: RememberedIncident,
  names: SharedTexts,
): IncidentEntry {
  const shared = (name: string) => names.shared(name);
  return {
    tenant: shared(tenant),
    environment: shared(environment),
    incidentId,
    serviceId: shared(serviceId),
    category,
    atMs,
    enough,
    affected: affected.map(shared),
    resolution,
  };
}

function keyOf({ tenant, incidentId }: Pick<RememberedIncident, "tenant" | "incidentId">): Uint8Array {
  return new KeyBuilder().text(tenant).text(incidentId).finish();
}
