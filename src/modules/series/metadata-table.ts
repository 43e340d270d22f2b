// Types, units and helps of metrics as they are stored.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { MetricMetadataEnvelope } from "../../core/protocol/coordinator-frame.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { METRIC_TYPES, type MetricMetadata, metadataNames } from "../../domain/series/metric-metadata.ts";
import { scan } from "../state/scan.ts";
import { number, oneOf, optional, StoredForm, text } from "../state/stored-json.ts";

const keyOf = (tenant: string, metricName: string, sender?: number) =>
  [tenant, metricName, ...(sender === undefined ? [] : [sender])].join("\0");

const METADATA = new StoredForm<MetricMetadataEnvelope>("metric_metadata", {
  tenant: text,
  metricName: text,
  type: oneOf(METRIC_TYPES),
  unit: text,
  help: text,
  sender: optional(number),
});

/** All that is stored, in memory; bounded by the ledger of its rows. */
export class MetadataTable {
  readonly shares: ShareLedger;
  readonly #metrics = new Map<string, MetricMetadata>();

  constructor(shares = ShareLedger.alone()) {
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "metric_metadata")) this.put(METADATA.decode(value));
  }

  get size(): number {
    return this.#metrics.size;
  }

  get all(): readonly MetricMetadata[] {
    return [...this.#metrics.values()];
  }

  has({ tenant, metricName, sender }: MetricMetadata): boolean {
    return this.#metrics.has(keyOf(tenant, metricName, sender));
  }

  put(metadata: MetricMetadata): void {
    if (!this.has(metadata)) this.shares.add(metadata.tenant);
    this.#metrics.set(keyOf(metadata.tenant, metadata.metricName, metadata.sender), metadata);
  }

  /** Metadata of a series, under its own name or that of its family. */
  ofSeries(tenant: string, seriesName: string): MetricMetadata | undefined {
    for (const name of metadataNames(seriesName)) {
      const found = this.#metrics.get(keyOf(tenant, name));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

export function metadataOperation(metadata: MetricMetadata): StoreOperation {
  const { tenant, metricName, sender } = metadata;
  const key = new KeyBuilder().text(tenant).text(metricName);
  if (sender !== undefined) key.u32(sender);
  return { table: "metric_metadata", key: key.finish(), value: METADATA.encode(metadata) };
}
