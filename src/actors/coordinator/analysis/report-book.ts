// The reports of all tenants by place in memory; their contents are read from the store.
import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { REPORTS_PER_TENANT_MAX } from "../../../core/config/analysis-limits.ts";
import { scan } from "../state/scan.ts";
import { tenantTimeKey } from "../state/tables.ts";
import { RCA_REPORT, type RcaReport } from "./report-row.ts";

/** Where a report is, and what lists filter by. */
interface ReportEntry {
  readonly id: string;
  readonly tenant: string;
  readonly createdAtMs: number;
  readonly services: ReadonlySet<string>;
  readonly anomalies: readonly string[];
}

export interface ReportFilter {
  readonly serviceId: string | undefined;
  readonly anomalyId: string | undefined;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
}

/** After which report a page begins. */
export interface ReportPosition {
  readonly createdAtMs: number;
  readonly id: string;
}

interface TenantReports {
  /** Oldest first. */
  readonly entries: ReportEntry[];
  readonly byId: Map<string, ReportEntry>;
  readonly byAnomaly: Map<string, ReportEntry>;
}

export class ReportBook {
  readonly #store: KeyValueStore;
  readonly #tenants = new Map<string, TenantReports>();
  readonly #running: RcaReport[] = [];
  size = 0;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  load(): void {
    for (const { value } of scan(this.#store, "rca_reports")) {
      const report = RCA_REPORT.decode(value);
      this.put(report);
      if (!report.isFinal) this.#running.push(report);
    }
  }

  /** Reports that were not final when the store was read; to be asked for once. */
  takeRunning(): readonly RcaReport[] {
    return this.#running.splice(0);
  }

  get tenants(): Iterable<string> {
    return this.#tenants.keys();
  }

  /** Takes a stored revision over. */
  put(report: RcaReport): void {
    const { id, tenant, createdAtMs, anomalies } = report;
    const reports = this.#of(tenant);
    const services = new Set([report.serviceId, ...report.analysis.candidates.map(({ serviceId }) => serviceId)]);
    const entry: ReportEntry = { id, tenant, createdAtMs, services, anomalies };
    const known = reports.byId.get(id);
    if (known === undefined) {
      this.size++;
      let at = reports.entries.length;
      while (at > 0 && compare(reports.entries[at - 1]!, entry) > 0) at--;
      reports.entries.splice(at, 0, entry);
    } else reports.entries[reports.entries.indexOf(known)] = entry;
    reports.byId.set(id, entry);
    for (const anomaly of anomalies) reports.byAnomaly.set(anomaly, entry);
  }

  operations(report: RcaReport): StoreOperation[] {
    return [{ table: "rca_reports", key: keyOf(report), value: RCA_REPORT.encode(report) }];
  }

  /** The report of the incident that an anomaly is a part of. */
  ofAnomaly(tenant: string, anomalyId: string): RcaReport | undefined {
    const entry = this.#tenants.get(tenant)?.byAnomaly.get(anomalyId);
    return entry === undefined ? undefined : this.#read(entry);
  }

  /** Whether an anomaly is named in a report. */
  has(tenant: string, anomalyId: string): boolean {
    return this.#tenants.get(tenant)?.byAnomaly.has(anomalyId) === true;
  }

  find(tenant: string, id: string): RcaReport | undefined {
    const entry = this.#tenants.get(tenant)?.byId.get(id);
    return entry === undefined ? undefined : this.#read(entry);
  }

  /** Reports that match, the newest first, behind a position. */
  page(tenant: string, filter: ReportFilter, after: ReportPosition | undefined, limit: number): RcaReport[] {
    const found: RcaReport[] = [];
    for (const entry of this.#newestFirst(tenant)) {
      if (found.length >= limit) break;
      if (!matches(entry, filter) || (after !== undefined && compare(entry, after) >= 0)) continue;
      const report = this.#read(entry);
      if (report !== undefined) found.push(report);
    }
    return found;
  }

  count(tenant: string, filter: ReportFilter): number {
    let count = 0;
    for (const entry of this.#newestFirst(tenant)) if (matches(entry, filter)) count++;
    return count;
  }

  /** The oldest of a tenant that are past their time or too many. */
  expired(tenant: string, beforeMs: number, limit: number): ReadonlyArray<{ readonly id: string; readonly key: Uint8Array }> {
    const { entries } = this.#of(tenant);
    const excess = entries.length - REPORTS_PER_TENANT_MAX;
    const old = entries.slice(0, limit).filter(({ createdAtMs }, i) => createdAtMs < beforeMs || i < excess);
    return old.map((entry) => ({ id: entry.id, key: keyOf(entry) }));
  }

  remove(tenant: string, id: string): void {
    const reports = this.#of(tenant);
    const entry = reports.byId.get(id);
    if (entry === undefined) return;
    this.size--;
    reports.byId.delete(id);
    reports.entries.splice(reports.entries.indexOf(entry), 1);
    for (const anomaly of entry.anomalies) if (reports.byAnomaly.get(anomaly) === entry) reports.byAnomaly.delete(anomaly);
    if (reports.entries.length === 0) this.#tenants.delete(tenant);
  }

  *#newestFirst(tenant: string): Generator<ReportEntry> {
    const entries = this.#tenants.get(tenant)?.entries ?? [];
    for (let i = entries.length - 1; i >= 0; i--) yield entries[i]!;
  }

  #of(tenant: string): TenantReports {
    let reports = this.#tenants.get(tenant);
    if (reports === undefined) {
      reports = { entries: [], byId: new Map(), byAnomaly: new Map() };
      this.#tenants.set(tenant, reports);
    }
    return reports;
  }

  #read(entry: ReportEntry): RcaReport | undefined {
    const value = this.#store.get("rca_reports", keyOf(entry));
    return value === undefined ? undefined : RCA_REPORT.decode(value);
  }
}

function keyOf({ tenant, createdAtMs, id }: Pick<ReportEntry, "tenant" | "createdAtMs" | "id">): Uint8Array {
  return tenantTimeKey(tenant, createdAtMs, id);
}

function compare(a: ReportPosition, b: ReportPosition): number {
  return a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

function matches({ services, anomalies, createdAtMs }: ReportEntry, { serviceId, anomalyId, sinceMs, untilMs }: ReportFilter): boolean {
  if (serviceId !== undefined && !services.has(serviceId)) return false;
  if (anomalyId !== undefined && !anomalies.includes(anomalyId)) return false;
  return createdAtMs >= (sinceMs ?? Number.NEGATIVE_INFINITY) && createdAtMs < (untilMs ?? Number.POSITIVE_INFINITY);
}
