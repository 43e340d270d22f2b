// Labels of services in memory and in the store: a row for each service, key and source. Telemetry's rows are written by transactions, the others by
// changes; both take turns, and neither writes the other's.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { SerialWork } from "../../core/fairness/serial-work.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { KeyBuilder, KeyReader } from "../../domain/codec/key.ts";
import { LABEL_SOURCES, type LabelSource } from "../../domain/labels/service-label.ts";
import { scan } from "../state/scan.ts";
import { number, optional, StoredForm, text } from "../state/stored-json.ts";

/** Value of one source for one key of a service. */
export interface ServiceLabel {
  readonly tenant: string;
  readonly serviceId: string;
  readonly key: string;
  readonly source: LabelSource;
  readonly value: string;
  readonly updatedMs: number;
  /** Number of changes by telemetry since `heldSinceMs`. */
  readonly changes?: number;
  readonly heldSinceMs?: number;
}

type StoredLabel = Omit<ServiceLabel, "tenant" | "serviceId" | "key" | "source">;

const LABEL = new StoredForm<StoredLabel>("service_labels", {
  value: text,
  updatedMs: number,
  changes: optional(number),
  heldSinceMs: optional(number),
});

/** Place of a label. */
export type LabelScope = Pick<ServiceLabel, "tenant" | "serviceId" | "key" | "source">;

/** Key of a label's row; the rows of one service and key lie together, the source that wins last. */
export function labelKey({ tenant, serviceId, key, source }: LabelScope): Uint8Array {
  return new KeyBuilder().text(tenant).text(serviceId).text(key).u16(LABEL_SOURCES.indexOf(source)).finish();
}

/** The label of a row. */
export function readLabel(key: Uint8Array, value: Uint8Array): ServiceLabel {
  const reader = new KeyReader(key);
  const [tenant, serviceId, name] = [reader.text(), reader.text(), reader.text()];
  const source = LABEL_SOURCES[reader.u16()];
  if (source === undefined) throw new Error("a label is of a source that this program does not know");
  return { tenant, serviceId, key: name, source, ...LABEL.decode(value) };
}

/** A change of one row. */
export function labelOperation(scope: LabelScope, label: ServiceLabel | undefined): StoreOperation {
  if (label === undefined) return { table: "service_labels", key: labelKey(scope), value: undefined };
  const { tenant: _tenant, serviceId: _service, key: _key, source: _source, ...stored } = label;
  return { table: "service_labels", key: labelKey(scope), value: LABEL.encode(stored) };
}

/** UTF-8 bytes of a label's texts, as they are counted. */
export function labelBytes({ serviceId, key, value }: Pick<ServiceLabel, "serviceId" | "key" | "value">): number {
  return Buffer.byteLength(serviceId) + key.length + Buffer.byteLength(value);
}

const isAt = (label: ServiceLabel, key: string, source: LabelSource) => label.key === key && label.source === source;

/** Who holds how many rows, and bytes of them. */
export interface LabelShares {
  readonly rows: ShareLedger;
  readonly bytes: ShareLedger;
}

/** The committed labels of all tenants. */
export class LabelBook {
  readonly shares: LabelShares;
  /** Changes by people; that of a catalog takes several turns. */
  readonly changes = new SerialWork();
  /** By tenant and service, there all of them in one list: they are asked for by service, and one key has several sources. */
  readonly #tenants = new Map<string, Map<string, ServiceLabel[]>>();

  constructor(shares: LabelShares = { rows: ShareLedger.alone(), bytes: ShareLedger.alone() }) {
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { key, value } of scan(store, "service_labels")) {
      const label = readLabel(key, value);
      this.put(label, label);
    }
  }

  /** Rows of all tenants. */
  get size(): number {
    return this.shares.rows.taken;
  }

  sizeOf(tenant: string): number {
    return this.shares.rows.used(tenant);
  }

  /** Labels of a service from all sources. */
  of(tenant: string, serviceId: string): readonly ServiceLabel[] {
    return this.#tenants.get(tenant)?.get(serviceId) ?? [];
  }

  /** Keys of services that have a label from any source: of one service or all, of one key or all. */
  count(tenant: string, serviceId: string | undefined, key: string | undefined): number {
    const services = serviceId === undefined ? (this.#tenants.get(tenant)?.values() ?? []) : [this.of(tenant, serviceId)];
    let count = 0;
    for (const labels of services)
      count += new Set(labels.map((label) => label.key).filter((each) => key === undefined || each === key)).size;
    return count;
  }

  find({ tenant, serviceId, key, source }: LabelScope): ServiceLabel | undefined {
    return this.of(tenant, serviceId).find((label) => isAt(label, key, source));
  }

  /** The label in force: that of the last source that has one. */
  inForce(tenant: string, serviceId: string, key: string): ServiceLabel | undefined {
    const labels = this.of(tenant, serviceId).filter((label) => label.key === key);
    return LABEL_SOURCES.reduce<ServiceLabel | undefined>(
      (found, source) => labels.find((label) => label.source === source) ?? found,
      undefined,
    );
  }

  /** Takes over a row that is stored, or gone where `label` is undefined. */
  put(scope: LabelScope, label: ServiceLabel | undefined): void {
    const { tenant, serviceId, key, source } = scope;
    const services = this.#tenants.get(tenant) ?? new Map<string, ServiceLabel[]>();
    const before = services.get(serviceId) ?? [];
    const old = before.find((each) => isAt(each, key, source));
    const after = before.filter((each) => each !== old);
    if (label !== undefined) after.push(label);
    if (after.length > 0) services.set(serviceId, after);
    else services.delete(serviceId);
    this.#tenants.set(tenant, services);
    this.shares.rows.add(tenant, after.length - before.length);
    this.shares.bytes.add(tenant, (label === undefined ? 0 : labelBytes(label)) - (old === undefined ? 0 : labelBytes(old)));
  }
}
