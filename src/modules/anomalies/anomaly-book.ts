// All anomalies as committed: an index per tenant, and which anomaly is open for each pair and direction. Bodies stay in the store.

import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { getOrMake } from "../../core/collections/get-or-make.ts";
import { SharedTexts } from "../../core/collections/shared-texts.ts";
import { ANOMALY_NAMES_SHARED_MAX } from "../../core/config/interface-limits.ts";
import { ANOMALIES_RECENT_MAX } from "../../core/config/limits.ts";
import { anomalyRisesAtMs } from "../../domain/alerting/paging/anomaly-finding.ts";
import { ENDING_GATES } from "../../domain/alerting/paging/asked-again.ts";
import { type Anomaly, type Episode, openKeyOf } from "../../domain/anomaly/anomaly.ts";
import { anomalyScore, tierOfScore } from "../../domain/detection/anomaly-score.ts";
import { scan } from "../state/scan.ts";
import { EPISODE } from "../state/shared-forms.ts";
import { idBytes, tenantTimeKey, tenantTimeOf } from "../state/tables.ts";
import type { AnomalyFollower } from "./anomaly-follower.ts";
import { type AnomalyEntry, type AnomalyFilter, AnomalyIndex } from "./anomaly-index.ts";
import { decodeAnomaly } from "./anomaly-row.ts";
import { OpenEpisodes } from "./open-episodes.ts";
import { QuietAnomalies } from "./quiet-anomalies.ts";

/** Where an anomaly is stored. */
export interface AnomalyKey {
  readonly tenant: string;
  readonly id: string;
  readonly detectedAtMs: number;
}

/** Open anomaly as rules over several services read it. */
export interface OpenAnomaly extends AnomalyKey, Pick<Anomaly, "environment" | "serviceId" | "metricName" | "detector" | "startedAtMs"> {
  /** The gate that held it before it came to any alert; null where none did. */
  suppressedBy: string | null;
  /** The alert that it belongs to. */
  alertId: string | null;
  /** When it becomes more severe than it was decided to be; null where it does not. */
  risesAtMs: number | null;
}

/** Whose anomalies are asked for. */
export interface AnomaliesOf extends Pick<AnomalyFilter, "metricName" | "detector" | "isInAlert"> {
  readonly tenant: string;
  readonly serviceId: string;
  readonly environment: string;
}

interface RecentRow {
  readonly tenant: string;
  readonly row: Uint8Array;
}

const NO_ANOMALIES = new AnomalyIndex();

/** The committed state; only the transaction that has committed, and retention, change it. */
export class AnomalyBook {
  readonly #store: KeyValueStore;
  readonly #tenants = new Map<string, AnomalyIndex>();
  readonly #open = new Map<string, OpenAnomaly>();
  /** Rows of those that changed last, oldest first: most episodes are short, and their end finds the anomaly here. As bytes they are no work for collections. */
  readonly #recent = new Map<string, RecentRow>();
  readonly openEpisodes = new OpenEpisodes();
  readonly quiet = new QuietAnomalies();
  readonly #names = new SharedTexts(ANOMALY_NAMES_SHARED_MAX);
  /** Whoever stores something of its own with anomalies. */
  follower: AnomalyFollower | undefined;
  #episodes = 0;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Reads the store; to be called once. 200,000 anomalies take about a second. */
  load(): void {
    for (const { key, value } of scan(this.#store, "anomalies")) this.put(decodeAnomaly(value, tenantTimeOf(key)));
    for (const _ of scan(this.#store, "episode_times")) this.#episodes++;
    this.openEpisodes.load(this.#store);
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Episodes remembered in rows of their own. */
  get episodeCount(): number {
    return this.#episodes;
  }

  /** Counts episodes that were stored, or forgotten where negative. */
  addEpisodes(count: number): void {
    this.#episodes += count;
  }

  get tenants(): Iterable<string> {
    return this.#tenants.keys();
  }

  /** The index of a tenant, for reading. */
  index(tenant: string): AnomalyIndex {
    return this.#tenants.get(tenant) ?? NO_ANOMALIES;
  }

  /** The anomaly that is open under a key of `openKeyOf`. */
  openAnomaly(openKey: string): AnomalyKey | undefined {
    return this.#open.get(openKey);
  }

  /** All that are open, in no order. */
  openAnomalies(): Iterable<OpenAnomaly> {
    return this.#open.values();
  }

  /** An anomaly as it is stored. */
  read({ tenant, id, detectedAtMs: timeMs }: AnomalyKey): Anomaly | undefined {
    const recent = this.#recent.get(id);
    const row = recent?.tenant === tenant ? recent.row : this.#store.get("anomalies", tenantTimeKey(tenant, timeMs, id));
    return row === undefined ? undefined : decodeAnomaly(row, { tenant, timeMs, id });
  }

  /** Reads an anomaly by its id. */
  find(tenant: string, id: string): Anomaly | undefined {
    const entry = this.index(tenant).get(id);
    return entry === undefined ? undefined : this.read({ tenant, id, detectedAtMs: entry.detectedAtMs });
  }

  /** Anomalies of a service, or of a pair, that lasted at some time of [fromMs, toMs), the newest first, `most` at most; of those that began earlier only what is open still. */
  during({ tenant, ...of }: AnomaliesOf, fromMs: number, toMs: number, most: number): Anomaly[] {
    const index = this.index(tenant);
    const inRange = index.page({ ...of, sinceMs: fromMs, untilMs: toMs }, undefined, most);
    const before = index.page({ ...of, untilMs: Math.min(fromMs, toMs), state: "open" }, undefined, most - inRange.length);
    return [...inRange, ...before].flatMap(({ id, detectedAtMs }) => this.read({ tenant, id, detectedAtMs }) ?? []);
  }

  /** Reads an episode with a row of its own from the store. */
  readEpisode(episodeId: string): Episode | undefined {
    if (this.#episodes === 0) return undefined;
    const value = this.#store.get("episodes", idBytes(episodeId));
    return value === undefined ? undefined : EPISODE.decode(value);
  }

  /** Takes over an anomaly that was committed as `row`; `keyIfOpen` is its `openKeyOf`. Without a row it is read from the store. */
  put(anomaly: Anomaly, keyIfOpen?: string, row?: Uint8Array): void {
    const { tenant, id } = anomaly;
    const index = this.#indexOf(tenant);
    const openBefore = index.get(id)?.openKey ?? null;
    const openKey = anomaly.resolvedAtMs === null ? (openBefore ?? keyIfOpen ?? openKeyOf(anomaly)) : null;
    index.put(this.#entryOf(anomaly, openKey));
    if (openKey === null) this.#close(openBefore, id);
    else this.#keepOpen(openKey, anomaly);
    this.quiet.put(anomaly);
    this.#recent.delete(id);
    if (row !== undefined) this.#keepRecent(id, { tenant, row });
  }

  #entryOf({ id, detectedAtMs, serviceId, metricName, environment, detector, paging, z }: Anomaly, openKey: string | null): AnomalyEntry {
    const score = anomalyScore(z);
    return {
      id,
      detectedAtMs,
      serviceId: this.#names.shared(serviceId),
      metricName: this.#names.shared(metricName),
      environment: this.#names.shared(environment),
      detector: this.#names.shared(detector),
      alertId: paging?.alertId ?? null,
      tier: paging?.tier ?? tierOfScore(score),
      score,
      triggersAnalysis: paging?.rcaTriggered === true,
      openKey,
    };
  }

  /** An entry is changed where it stands: one that lives for long and is replaced is work for full collections. */
  #keepOpen(openKey: string, anomaly: Anomaly): void {
    const known = this.#open.get(openKey);
    if (known?.id === anomaly.id) Object.assign(known, decidedOf(anomaly));
    else this.#open.set(openKey, openOf(anomaly));
  }

  #keepRecent(id: string, recent: RecentRow): void {
    this.#recent.set(id, recent);
    if (this.#recent.size <= ANOMALIES_RECENT_MAX) return;
    for (const oldest of this.#recent.keys()) {
      this.#recent.delete(oldest);
      return;
    }
  }

  /** Forgets an anomaly that was deleted. */
  remove(tenant: string, { id, openKey }: AnomalyEntry): void {
    this.#tenants.get(tenant)?.remove(id);
    this.quiet.remove(id);
    this.#recent.delete(id);
    this.#close(openKey, id);
  }

  #close(openKey: string | null, id: string): void {
    if (openKey !== null && this.#open.get(openKey)?.id === id) this.#open.delete(openKey);
  }

  #indexOf(tenant: string): AnomalyIndex {
    return getOrMake(this.#tenants, tenant, () => new AnomalyIndex());
  }
}

function openOf(anomaly: Anomaly): OpenAnomaly {
  const { tenant, id, detectedAtMs, serviceId, environment, metricName, detector, startedAtMs } = anomaly;
  return { tenant, id, detectedAtMs, serviceId, environment, metricName, detector, startedAtMs, ...decidedOf(anomaly) };
}

/** What the last decision has left of it. */
function decidedOf(anomaly: Anomaly): Pick<OpenAnomaly, "suppressedBy" | "alertId" | "risesAtMs"> {
  const { paging } = anomaly;
  if (paging === null) return { suppressedBy: null, alertId: null, risesAtMs: null };
  const { alertId, suppressedBy, tier } = paging;
  const isSuppressed = alertId === null || ENDING_GATES.has(suppressedBy ?? "");
  return { suppressedBy: isSuppressed ? suppressedBy : null, alertId, risesAtMs: anomalyRisesAtMs(anomaly, tier) };
}
