// What a run of verdict frames changes: collected over the committed state, turned into one list of operations, taken over once committed.
// It may be thrown away and made again from the same frames after a failed commit.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { notifiedAnomalyView } from "../../api/notification-view.ts";
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import type { StreamEvents } from "../../core/protocol/query.ts";
import {
  type Anomaly,
  anomalyIdOf,
  applyEpisode,
  type Episode,
  type EpisodeEffect,
  earlierIdOf,
  foundingEpisode,
  isOfStreamBack,
  isQuiet,
  openKeyOf,
  reopened,
} from "../../domain/anomaly/anomaly.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import type { AlertDraft } from "../alerts/alert-draft.ts";
import { EPISODE } from "../state/shared-forms.ts";
import { byKey, idBytes, tenantTimeKey } from "../state/tables.ts";
import type { AnomalyBook, AnomalyKey } from "./anomaly-book.ts";
import type { AnomalyFollowing, AnomalyStep } from "./anomaly-follower.ts";
import type { AnomalyEntry } from "./anomaly-index.ts";
import { encodeAnomaly } from "./anomaly-row.ts";
import { noteOpenEpisode, type OpenEpisode, openEpisodeOperations } from "./open-episodes.ts";

/** Bounds of the book. */
export interface VerdictLimits {
  /** Anomalies of a tenant. */
  readonly anomaliesMax: number;
  /** Alerts of a tenant. */
  readonly alertsMax: number;
  /** Openings of samples older than this are forgotten already: only a replay brings them. */
  readonly retentionMs: number;
}

const REPORTED: ReadonlySet<EpisodeEffect["kind"]> = new Set(["opened", "updated", "resolved"]);

/** Whether a client of the event stream learns something: a further member alone is no news, a pair may have thousands. */
function isChange({ kind, anomaly }: EpisodeEffect, before: Anomaly | undefined): boolean {
  return REPORTED.has(kind) || (kind === "joined" && (anomaly?.z !== before?.z || before?.resolvedAtMs !== null));
}

function isSameDecision({ paging: before }: Anomaly, { paging: after }: Anomaly): boolean {
  return before?.serial === after?.serial && before?.alertId === after?.alertId;
}

/** Key of the order in which episodes are forgotten. */
export function episodeTimeKey(wallMs: number, episodeId: Uint8Array): Uint8Array {
  return new KeyBuilder().time(wallMs).fixed(episodeId).finish();
}

/** An anomaly that a transaction has changed. */
interface ChangedAnomaly {
  anomaly: Anomaly;
  readonly openKey: string;
  /** Whether the event stream is told. */
  isChange: boolean;
  /** As it goes to the store. */
  row: Uint8Array | undefined;
}

/** One transaction's verdicts. */
export class VerdictDraft {
  readonly #book: AnomalyBook;
  readonly #limits: VerdictLimits;
  readonly #wallNowMs: number;
  readonly #alerts: AlertDraft;
  /** By the id of the anomaly. */
  readonly #changed = new Map<string, ChangedAnomaly>();
  readonly #open = new Map<string, Anomaly>();
  readonly #episodes = new Map<string, { readonly episode: Episode; readonly isNew: boolean }>();
  readonly #openEpisodes = new Map<string, OpenEpisode | undefined>();
  /** Episodes that got a row of their own because their anomaly goes. */
  #orphans = 0;
  /** Arrival of the bytes behind each anomaly that was opened here; 0 in a replay. */
  readonly openedArrivalsMs: number[] = [];
  #evicted: ReadonlyArray<{ readonly tenant: string; readonly entry: AnomalyEntry }> = [];
  #following: AnomalyFollowing | undefined;

  constructor(book: AnomalyBook, limits: VerdictLimits, wallNowMs: number, alerts: AlertDraft) {
    this.#book = book;
    this.#alerts = alerts;
    this.#limits = limits;
    this.#wallNowMs = wallNowMs;
  }

  /** Applies a frame on top of those before; says what it did to which anomaly. */
  add(frame: EpisodeFrame): EpisodeEffect {
    const isForgotten = frame.transition === "open" && frame.observedAtMs < this.#wallNowMs - this.#limits.retentionMs;
    if (isForgotten) return { kind: "ignored" };
    const id = anomalyIdOf(frame);
    const founded = this.#founded(frame, id);
    const episode =
      foundingEpisode(founded, frame.episodeId) ?? this.#episodes.get(frame.episodeId)?.episode ?? this.#book.readEpisode(frame.episodeId);
    const openKey = openKeyOf(frame);
    const before = this.#anomalyOf(openKey, frame, { episode, founded });
    const effect = applyEpisode({ episode, anomaly: before, id }, frame, this.#wallNowMs);
    const isFounder = effect.anomaly?.founder?.episodeId === frame.episodeId;
    if (effect.episode !== undefined && !isFounder) this.#keepEpisode(frame.episodeId, effect.episode, episode === undefined);
    noteOpenEpisode(this.#openEpisodes, frame, effect.episode?.open);
    const { anomaly, raised } = this.#alerts.take(effect, before, (tenant, other) => this.#read(tenant, other));
    for (const other of raised) this.#keepAnomaly(other, openKeyOf(other), true);
    if (effect.kind === "joined" && before !== undefined && anomaly !== undefined) this.#alerts.join(before, frame.attributes);
    if (anomaly !== undefined) this.#keepAnomaly(anomaly, openKey, isChange(effect, before));
    if (effect.kind === "opened") this.openedArrivalsMs.push(frame.arrivalMs);
    return anomaly === undefined ? effect : { ...effect, anomaly };
  }

  /** Asks about open anomalies again (domain/alerting/paging/asked-again.ts). */
  askAgain(places: readonly AnomalyKey[]): void {
    for (const { tenant, id } of places) {
      const before = this.#read(tenant, id);
      if (before === undefined || before.resolvedAtMs !== null) continue;
      const { anomaly, raised } = this.#alerts.askFinding(before, (of, other) => this.#read(of, other));
      const changed = anomaly === undefined || isSameDecision(before, anomaly) ? raised : [anomaly, ...raised];
      for (const each of changed) this.#keepAnomaly(each, openKeyOf(each), true);
    }
  }

  /** Finds quiet anomalies again: they have been so for long enough. */
  reopen(places: readonly AnomalyKey[]): void {
    for (const { tenant, id } of places) {
      const before = this.#read(tenant, id);
      if (before === undefined || !isQuiet(before) || this.#openAnomaly(openKeyOf(before)) !== undefined) continue;
      const read = (of: string, other: string) => this.#read(of, other);
      const { anomaly, raised } = this.#alerts.take({ kind: "joined", anomaly: reopened(before) }, before, read);
      for (const each of [...raised, ...(anomaly === undefined ? [] : [anomaly])]) this.#keepAnomaly(each, openKeyOf(each), true);
    }
  }

  /** The anomaly that a frame belongs to, as this draft leaves it. */
  anomalyOf(frame: EpisodeFrame): Anomaly | undefined {
    const founded = this.#founded(frame, anomalyIdOf(frame));
    if (founded !== undefined) return founded;
    const episode = this.#episodes.get(frame.episodeId)?.episode ?? this.#book.readEpisode(frame.episodeId);
    return episode === undefined ? undefined : this.#read(episode.tenant, episode.anomalyId);
  }

  /** Open episodes under a fingerprint, as this draft leaves them. */
  openUnder(fingerprint: string): OpenEpisode[] {
    const committed = this.#book.openEpisodes.under(fingerprint).filter(({ episodeId }) => !this.#openEpisodes.has(episodeId));
    const drafted = [...this.#openEpisodes.values()].flatMap((episode) => (episode?.fingerprint === fingerprint ? episode : []));
    return [...committed, ...drafted];
  }

  /** The operations of the transaction; also decides which old anomalies make room. */
  operations(): StoreOperation[] {
    this.#orphans = 0;
    const operations: StoreOperation[] = [];
    for (const changed of this.#changed.values()) {
      const { tenant, detectedAtMs, id } = changed.anomaly;
      changed.row = encodeAnomaly(changed.anomaly);
      operations.push({ table: "anomalies", key: tenantTimeKey(tenant, detectedAtMs, id), value: changed.row });
    }
    operations.sort(byKey);
    for (const [id, { episode, isNew }] of this.#episodes) operations.push(...this.#episodeOperations(id, episode, isNew));
    operations.push(...openEpisodeOperations(this.#openEpisodes));
    this.#evicted = this.#chooseEvicted();
    for (const { tenant, entry } of this.#evicted) this.#leaveAlert(tenant, entry);
    for (const { tenant, entry } of this.#evicted) {
      operations.push(...this.#founderOperations(tenant, entry));
      operations.push({ table: "anomalies", key: tenantTimeKey(tenant, entry.detectedAtMs, entry.id), value: undefined });
    }
    const steps = this.#steps();
    this.#following = steps.length === 0 ? undefined : this.#book.follower?.draft();
    operations.push(...(this.#following?.operations(steps) ?? []));
    return operations;
  }

  /** Takes the changes over into the book after the commit; returns the number of anomalies dropped for want of room. */
  apply(): number {
    for (const { anomaly, openKey, row } of this.#changed.values()) this.#book.put(anomaly, openKey, row);
    this.#book.openEpisodes.apply(this.#openEpisodes);
    for (const { isNew } of this.#episodes.values()) this.#book.addEpisodes(isNew ? 1 : 0);
    this.#book.addEpisodes(this.#orphans);
    for (const { tenant, entry } of this.#evicted) this.#book.remove(tenant, this.#book.index(tenant).get(entry.id) ?? entry);
    this.#following?.apply();
    return this.#evicted.length;
  }

  events(): StreamEvents["events"] {
    const reported = [...this.#changed.values()].filter((changed) => changed.isChange);
    const notificationOf = this.#alerts.notificationsOfAnomalies();
    return reported.map(({ anomaly }) => {
      const data = JSON.stringify(notifiedAnomalyView(anomaly, this.#alerts.ofAnomaly(anomaly), notificationOf(anomaly)));
      return { event: "anomaly", tenant: anomaly.tenant, data };
    });
  }

  /** Changes of this draft, for whoever follows. */
  #steps(): AnomalyStep[] {
    const { follower } = this.#book;
    if (follower === undefined) return [];
    return [...this.#changed.values()].flatMap(({ anomaly }) => {
      const { tenant, id } = anomaly;
      if (!follower.follows(tenant)) return [];
      return { before: this.#book.find(tenant, id), after: anomaly, alert: this.#alerts.ofAnomaly(anomaly) };
    });
  }

  /** The anomaly that a frame would open, where it is stored already; one of an earlier version's id only where this episode founded it. */
  #founded(frame: EpisodeFrame, id: string): Anomaly | undefined {
    const founded = this.#read(frame.tenant, id);
    if (founded !== undefined || frame.fingerprint === undefined) return founded;
    const earlier = this.#read(frame.tenant, earlierIdOf(frame));
    return earlier?.founder?.episodeId === frame.episodeId ? earlier : undefined;
  }

  /** `founded` is the anomaly that the frame would open, where it is stored already. */
  #anomalyOf(
    openKey: string,
    frame: EpisodeFrame,
    { episode, founded }: { readonly episode: Episode | undefined; readonly founded: Anomaly | undefined },
  ): Anomaly | undefined {
    if (episode === undefined) return this.#openAnomaly(openKey) ?? this.#quietAnomaly(openKey, frame) ?? founded;
    return episode.anomalyId === founded?.id ? founded : this.#read(episode.tenant, episode.anomalyId);
  }

  #read(tenant: string, id: string): Anomaly | undefined {
    return this.#changed.get(id)?.anomaly ?? this.#book.find(tenant, id);
  }

  /** An anomaly that this draft has touched decides by its new state, whatever the book says. */
  #openAnomaly(openKey: string): Anomaly | undefined {
    const drafted = this.#open.get(openKey);
    if (drafted !== undefined) return drafted;
    const open = this.#book.openAnomaly(openKey);
    if (open === undefined || this.#changed.has(open.id)) return undefined;
    return this.#book.read(open);
  }

  /** One that was ended while it went on, and still does: what its own stream finds anew was back meanwhile, and is none of it. */
  #quietAnomaly(openKey: string, frame: EpisodeFrame): Anomaly | undefined {
    const quiet = this.#book.quiet.find(openKey);
    const anomaly = quiet === undefined ? undefined : this.#read(quiet.tenant, quiet.id);
    return anomaly !== undefined && isQuiet(anomaly) && !isOfStreamBack(anomaly, frame) ? anomaly : undefined;
  }

  /** The frame that changed it has its pair and direction, and so its key. */
  #keepAnomaly(anomaly: Anomaly, openKey: string, isChange: boolean): void {
    const changed = this.#changed.get(anomaly.id);
    if (changed === undefined) this.#changed.set(anomaly.id, { anomaly, openKey, isChange, row: undefined });
    else {
      changed.anomaly = anomaly;
      changed.isChange ||= isChange;
    }
    if (anomaly.resolvedAtMs === null) this.#open.set(openKey, anomaly);
    else if (this.#open.get(openKey)?.id === anomaly.id) this.#open.delete(openKey);
  }

  #keepEpisode(id: string, episode: Episode, isNew: boolean): void {
    this.#episodes.set(id, { episode, isNew: isNew || (this.#episodes.get(id)?.isNew ?? false) });
  }

  #episodeOperations(id: string, episode: Episode, isNew: boolean): StoreOperation[] {
    const row = { table: "episodes", key: idBytes(id), value: EPISODE.encode(episode) };
    if (!isNew) return [row];
    return [row, { table: "episode_times", key: episodeTimeKey(this.#wallNowMs, idBytes(id)), value: new Uint8Array(0) }];
  }

  /** An episode outlives the anomaly that remembered it: a replay must not open it again. */
  #founderOperations(tenant: string, { id, detectedAtMs }: AnomalyEntry): StoreOperation[] {
    const anomaly = this.#changed.get(id)?.anomaly ?? this.#book.read({ tenant, id, detectedAtMs });
    if (anomaly === undefined || anomaly.founder === null) return [];
    const { episodeId, open } = anomaly.founder;
    this.#orphans++;
    return this.#episodeOperations(episodeId, { tenant, anomalyId: id, detectedAtMs, open }, true);
  }

  /** An anomaly that is dropped while it is open keeps no alert firing. */
  #leaveAlert(tenant: string, { id, openKey }: AnomalyEntry): void {
    const anomaly = openKey === null ? undefined : this.#read(tenant, id);
    if (anomaly?.resolvedAtMs === null) this.#alerts.end(anomaly, (of, other) => this.#read(of, other));
  }

  #chooseEvicted(): Array<{ tenant: string; entry: AnomalyEntry }> {
    const added = new Map<string, number>();
    for (const { anomaly } of this.#changed.values()) {
      const { tenant, id } = anomaly;
      if (this.#book.index(tenant).get(id) === undefined) added.set(tenant, (added.get(tenant) ?? 0) + 1);
    }
    return [...added].flatMap(([tenant, count]) => {
      const index = this.#book.index(tenant);
      const over = Math.max(0, index.size + count - this.#limits.anomaliesMax);
      return index.oldest(over).map((entry) => ({ tenant, entry }));
    });
  }
}
