// The reports of all tenants by place in memory; their contents are read from the store.
// Anomalies of an incident beyond those that its report names: one row each, so that the report is found by every one of them.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { getOrMake } from "../../core/collections/get-or-make.ts";
import { JOINED_MEMBERS_PER_TENANT_MAX, REPORTS_PER_TENANT_MAX } from "../../core/config/analysis-limits.ts";
import { scan } from "../state/scan.ts";
import { StoredForm, text } from "../state/stored-json.ts";
import { tenantTimeKey, tenantTimeOf } from "../state/tables.ts";
import { RCA_REPORT, type RcaReport } from "./report-row.ts";

const MEMBERS_TABLE = "incident_members";
const JOINED_MEMBER = new StoredForm<JoinedMember>(MEMBERS_TABLE, { anomalyId: text, reportId: text });

/** Where a report is, and what lists filter by. */
interface ReportEntry {
  readonly id: string;
  readonly tenant: string;
  readonly createdAtMs: number;
  readonly environment: string;
  readonly services: ReadonlySet<string>;
  readonly anomalies: readonly string[];
  /** Those beyond what the report names (memberOperations). */
  readonly joined: string[];
}

/** Members that are to be deleted. */
export interface ExpiredMembers {
  /** Id of their report. */
  readonly id: string;
  readonly anomalies: readonly string[];
  readonly operations: readonly StoreOperation[];
}

export interface ReportFilter {
  readonly serviceId: string | undefined;
  readonly environment: string | undefined;
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
  /** Number of joined members of all entries. */
  joinedCount: number;
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
    for (const { key, value } of scan(this.#store, MEMBERS_TABLE)) {
      const { anomalyId, reportId } = JOINED_MEMBER.decode(value);
      const reports = this.#tenants.get(tenantTimeOf(key).tenant);
      const entry = reports?.byId.get(reportId);
      if (reports !== undefined && entry !== undefined) this.#join(reports, entry, [anomalyId]);
    }
  }

  /** Reports that were not final when the store was read; to be asked for once. */
  takeRunning(): readonly RcaReport[] {
    return this.#running.splice(0);
  }

  get tenants(): Iterable<string> {
    return this.#tenants.keys();
  }

  /** Takes a stored revision over, with anomalies that have joined beyond those that it names. */
  put(report: RcaReport, joined: readonly string[] = []): void {
    const { id, tenant, createdAtMs, environment, anomalies } = report;
    const reports = this.#of(tenant);
    const services = new Set([report.serviceId, ...report.analysis.candidates.map(({ serviceId }) => serviceId)]);
    const known = reports.byId.get(id);
    const entry: ReportEntry = { id, tenant, createdAtMs, environment, services, anomalies, joined: known?.joined ?? [] };
    if (known === undefined) {
      this.size++;
      let at = reports.entries.length;
      while (at > 0 && compare(reports.entries[at - 1]!, entry) > 0) at--;
      reports.entries.splice(at, 0, entry);
    } else reports.entries[reports.entries.indexOf(known)] = entry;
    reports.byId.set(id, entry);
    for (const anomaly of [...anomalies, ...entry.joined]) reports.byAnomaly.set(anomaly, entry);
    this.#join(reports, entry, joined);
  }

  #join(reports: TenantReports, entry: ReportEntry, joined: readonly string[]): void {
    if (joined.length === 0) return;
    entry.joined.push(...joined);
    reports.joinedCount += joined.length;
    for (const anomaly of joined) reports.byAnomaly.set(anomaly, entry);
  }

  /** Anomalies of a report beyond those that it names. */
  joinedCount(tenant: string, id: string): number {
    return this.#tenants.get(tenant)?.byId.get(id)?.joined.length ?? 0;
  }

  operations(report: RcaReport, joined: readonly string[] = []): StoreOperation[] {
    return [{ table: "rca_reports", key: keyOf(report), value: RCA_REPORT.encode(report) }, ...memberOperations(report, joined)];
  }

  /** The report of the incident that an anomaly is a part of. */
  ofAnomaly(tenant: string, anomalyId: string): RcaReport | undefined {
    const entry = this.#tenants.get(tenant)?.byAnomaly.get(anomalyId);
    return entry === undefined ? undefined : this.#read(entry);
  }

  /** The reports of the incidents that several anomalies are parts of, each once; the newest incident first. */
  ofAnomalies(tenant: string, anomalyIds: readonly string[]): RcaReport[] {
    const byAnomaly = this.#tenants.get(tenant)?.byAnomaly;
    const entries = [...new Set(anomalyIds.flatMap((id) => byAnomaly?.get(id) ?? []))];
    return entries.sort((a, b) => compare(b, a)).flatMap((entry) => this.#read(entry) ?? []);
  }

  /** All anomalies of the incident that an anomaly is a part of; none where there is no report. */
  membersOf(tenant: string, anomalyId: string): readonly string[] {
    const entry = this.#tenants.get(tenant)?.byAnomaly.get(anomalyId);
    return entry === undefined ? [] : [...entry.anomalies, ...entry.joined];
  }

  /** Whether an anomaly is part of an incident with a report. */
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
      if (!this.#matches(entry, filter) || (after !== undefined && compare(entry, after) >= 0)) continue;
      const report = this.#read(entry);
      if (report !== undefined) found.push(report);
    }
    return found;
  }

  count(tenant: string, filter: ReportFilter): number {
    let count = 0;
    for (const entry of this.#newestFirst(tenant)) if (this.#matches(entry, filter)) count++;
    return count;
  }

  /** The oldest of a tenant that are past their time or too many. */
  expired(tenant: string, beforeMs: number, limit: number): ReadonlyArray<{ readonly id: string; readonly key: Uint8Array }> {
    const { entries } = this.#of(tenant);
    const excess = entries.length - REPORTS_PER_TENANT_MAX;
    const old = entries.slice(0, limit).filter(({ createdAtMs }, i) => createdAtMs < beforeMs || i < excess);
    return old.map((entry) => ({ id: entry.id, key: keyOf(entry) }));
  }

  /** Members of the oldest report that has any, which are to go with it, or as the tenant has too many; undefined where there are none. */
  expiredMembers(tenant: string, beforeMs: number, limit: number): ExpiredMembers | undefined {
    const { entries, joinedCount } = this.#of(tenant);
    const excess = entries.length - REPORTS_PER_TENANT_MAX;
    const at = entries.findIndex(({ joined }) => joined.length > 0);
    const entry = entries[at];
    if (entry === undefined || (entry.createdAtMs >= beforeMs && at >= excess && joinedCount <= JOINED_MEMBERS_PER_TENANT_MAX))
      return undefined;
    const anomalies = entry.joined.slice(0, limit);
    return { id: entry.id, anomalies, operations: memberDeletions(entry, anomalies) };
  }

  removeMembers(tenant: string, { id, anomalies }: Pick<ExpiredMembers, "id" | "anomalies">): void {
    const reports = this.#of(tenant);
    const entry = reports.byId.get(id);
    if (entry === undefined) return;
    entry.joined.splice(0, anomalies.length);
    reports.joinedCount -= anomalies.length;
    for (const anomaly of anomalies) if (reports.byAnomaly.get(anomaly) === entry) reports.byAnomaly.delete(anomaly);
  }

  /** Removes a report whose members are gone. */
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
    return getOrMake(this.#tenants, tenant, () => ({ entries: [], byId: new Map(), byAnomaly: new Map(), joinedCount: 0 }));
  }

  #matches(entry: ReportEntry, filter: ReportFilter): boolean {
    const { anomalyId } = filter;
    if (anomalyId !== undefined && !entry.anomalies.includes(anomalyId) && !this.#isPart(entry, anomalyId)) return false;
    return matches(entry, filter);
  }

  #isPart(entry: ReportEntry, anomalyId: string): boolean {
    return this.#tenants.get(entry.tenant)?.byAnomaly.get(anomalyId)?.id === entry.id;
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

function matches({ services, environment, createdAtMs }: ReportEntry, filter: ReportFilter): boolean {
  const { serviceId, sinceMs, untilMs } = filter;
  if (serviceId !== undefined && !services.has(serviceId)) return false;
  if (environment !== (filter.environment ?? environment)) return false;
  return createdAtMs >= (sinceMs ?? Number.NEGATIVE_INFINITY) && createdAtMs < (untilMs ?? Number.POSITIVE_INFINITY);
}

/** An anomaly that is a part of an incident. */
interface JoinedMember {
  readonly anomalyId: string;
  readonly reportId: string;
}

/** Where the rows of a report's members are: they come and go with it. */
interface MembersPosition {
  readonly id: string;
  readonly tenant: string;
  readonly createdAtMs: number;
}

function memberOperations({ id: reportId, ...report }: MembersPosition, anomalyIds: readonly string[]): StoreOperation[] {
  return anomalyIds.map((anomalyId) => ({
    table: MEMBERS_TABLE,
    key: memberKey(report, anomalyId),
    value: JOINED_MEMBER.encode({ anomalyId, reportId }),
  }));
}

function memberDeletions(report: MembersPosition, anomalyIds: readonly string[]): StoreOperation[] {
  return anomalyIds.map((anomalyId) => ({ table: MEMBERS_TABLE, key: memberKey(report, anomalyId), value: undefined }));
}

function memberKey({ tenant, createdAtMs }: Omit<MembersPosition, "id">, anomalyId: string): Uint8Array {
  return tenantTimeKey(tenant, createdAtMs, anomalyId);
}
