// Findings of saturation as they are told to people: each from its first telling to its end, the open ones and the last that ended of each tenant. Stored where
// one opens, changes its tier or ends; in between memory has the newest figures.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { SATURATION_FIRES_ENDED_MAX } from "../../core/config/limits.ts";
import type { EpisodeFrame, StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { SaturationReport } from "../../core/protocol/saturation.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import type { SaturationFinding } from "../../domain/saturation/saturation-finding.ts";
import { frameOfFire, nextReport, type ReportedFinding, transitionOf } from "../../domain/saturation/saturation-fire.ts";
import { scan } from "../state/scan.ts";
import { STREAM_NAME_CHECKS } from "../state/shared-forms.ts";
import { anything, type FieldCheck, nullable, number, StoredForm, text } from "../state/stored-json.ts";
import { idBytes } from "../state/tables.ts";

/** One finding; times in ms since 1970. */
export interface SaturationFire extends StreamName, ReportedFinding {
  /** Key of its series. */
  readonly key: string;
  readonly updatedAtMs: number;
  /** Null while it is open. */
  readonly endedAtMs: number | null;
}

const FIRE = new StoredForm<SaturationFire>("saturation_fires", {
  ...STREAM_NAME_CHECKS,
  id: text,
  finding: anything as FieldCheck<SaturationFinding>,
  peakZ: number,
  sampleMs: number,
  startedAtMs: number,
  key: text,
  updatedAtMs: number,
  endedAtMs: nullable(number),
});

/** Findings of a pass on the series that have or had one. */
export interface FireFindings {
  readonly reports: readonly SaturationReport[];
  /** Keys of open ones: nothing new, no longer found in new values (with the time of the newest), and not judged any more. */
  readonly waiting: ReadonlySet<string>;
  readonly over: ReadonlyMap<string, number>;
  readonly ended: ReadonlySet<string>;
}

/** One whose series has left memory ends once it has not been heard of for so long. */
const UNHEARD_MS_MAX = 24 * 3600 * 1000;

/** Changes of one pass. */
export interface FireChanges {
  readonly operations: readonly StoreOperation[];
  readonly frames: readonly EpisodeFrame[];
  /** Takes all over into the book. */
  apply(): void;
}

interface TenantFires {
  /** By the key of the series. */
  readonly open: Map<string, SaturationFire>;
  /** Oldest first. */
  readonly ended: SaturationFire[];
}

/** The findings of all tenants. */
export class FireBook {
  readonly #tenants = new Map<string, TenantFires>();

  load(store: KeyValueStore): void {
    const all = [...scan(store, "saturation_fires")].map(({ value }) => FIRE.decode(value));
    for (const fire of all.sort((a, b) => (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0))) this.#put(fire);
  }

  get openCount(): number {
    return [...this.#tenants.values()].reduce((sum, { open }) => sum + open.size, 0);
  }

  *open(): Generator<SaturationFire> {
    for (const { open } of this.#tenants.values()) yield* open.values();
  }

  /** Fires of one tenant: the open ones, then those that ended, the newest of each first. */
  listOf(tenant: string): SaturationFire[] {
    const fires = this.#tenants.get(tenant);
    if (fires === undefined) return [];
    const open = [...fires.open.values()].sort((a, b) => b.startedAtMs - a.startedAtMs || (a.id < b.id ? -1 : 1));
    const ended = [...fires.ended].sort((a, b) => (b.endedAtMs as number) - (a.endedAtMs as number) || (a.id < b.id ? -1 : 1));
    return [...open, ...ended];
  }

  /** Changes by a pass that came to its end. Fires of which it says nothing go on. */
  settle(found: FireFindings, nowMs: number): FireChanges {
    const { reports, over } = found;
    const reported = new Set(reports.map(({ key }) => key));
    const after = reports.map((report) => this.#fireOf(report, nowMs));
    const isGone = ({ key, updatedAtMs }: SaturationFire) =>
      found.ended.has(key) || (!found.waiting.has(key) && updatedAtMs < nowMs - UNHEARD_MS_MAX);
    const ended = [...this.open()]
      .filter((fire) => !reported.has(fire.key) && (over.has(fire.key) || isGone(fire)))
      .map((fire) => ({ ...fire, endedAtMs: Math.max(fire.startedAtMs, over.get(fire.key) ?? nowMs) }));
    const changed = after.filter((fire) => this.#before(fire)?.finding.tier !== fire.finding.tier);
    const evicted = this.#evictedBy(ended);
    return {
      operations: [
        ...[...changed, ...ended].map((fire) => ({ table: "saturation_fires", key: fireKey(fire), value: FIRE.encode(fire) })),
        ...evicted.map((fire) => ({ table: "saturation_fires", key: fireKey(fire), value: undefined })),
      ],
      frames: [
        ...ended.map((fire) => frameOfFire(fire, { ...fire, sampleMs: fire.endedAtMs }, over.has(fire.key) ? "close" : "end")),
        ...after.flatMap((fire) => {
          const transition = transitionOf(this.#before(fire), fire);
          return transition === undefined ? [] : [frameOfFire(fire, fire, transition)];
        }),
      ],
      apply: () => {
        for (const fire of [...after, ...ended]) this.#put(fire);
      },
    };
  }

  #before({ tenant, key }: Pick<SaturationFire, "tenant" | "key">): SaturationFire | undefined {
    return this.#tenants.get(tenant)?.open.get(key);
  }

  #fireOf({ key, finding, sampleMs, ...name }: SaturationReport, nowMs: number): SaturationFire {
    const found = { finding: finding as SaturationFinding, sampleMs };
    const next = nextReport(this.#before({ tenant: name.tenant, key }), key, found, nowMs);
    return { ...name, ...next, key, updatedAtMs: nowMs, endedAtMs: null };
  }

  #evictedBy(ended: readonly SaturationFire[]): SaturationFire[] {
    const tenants = new Set(ended.map(({ tenant }) => tenant));
    return [...tenants].flatMap((tenant) => {
      const retained = this.#tenants.get(tenant)?.ended ?? [];
      const added = ended.filter((fire) => fire.tenant === tenant).length;
      return retained.slice(0, Math.max(0, retained.length + added - SATURATION_FIRES_ENDED_MAX));
    });
  }

  #put(fire: SaturationFire): void {
    const fires = this.#tenants.get(fire.tenant) ?? { open: new Map<string, SaturationFire>(), ended: [] };
    this.#tenants.set(fire.tenant, fires);
    if (fire.endedAtMs === null) {
      fires.open.set(fire.key, fire);
      return;
    }
    fires.open.delete(fire.key);
    fires.ended.push(fire);
    if (fires.ended.length > SATURATION_FIRES_ENDED_MAX) fires.ended.shift();
  }
}

function fireKey({ tenant, id }: SaturationFire): Uint8Array {
  return new KeyBuilder().text(tenant).fixed(idBytes(id)).finish();
}
