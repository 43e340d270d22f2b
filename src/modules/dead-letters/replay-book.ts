// Replay jobs: what each is to replay, how far it is, and what became of its letters. Stored in the transactions that move them on.

import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { list, nullable, number, object, optional, record, StoredForm, text } from "../state/stored-json.ts";
import { idBytes } from "../state/tables.ts";
import { TenantTable } from "../state/tenant-table.ts";

/** Which letters: those named, or all that match. Received times, `fromMs` inclusive, `toMs` exclusive. */
export interface DeadLetterSelection {
  /** dlq_ids. */
  readonly ids?: readonly string[];
  readonly reason?: string;
  readonly serviceId?: string;
  readonly topic?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** One job. Counts are exact over restarts: `replayed` moves in the transaction that takes the letters out of the queue. */
export interface ReplayJob {
  /** 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  readonly selection: DeadLetterSelection;
  readonly createdMs: number;
  readonly finishedMs: number | null;
  /** Only letters that were received before this. */
  readonly untilMs: number;
  /** The last letter that has been dealt with: received time and id, or how many of `selection.ids`. */
  readonly cursor: { readonly receivedMs: number; readonly id: string } | null;
  readonly idsDone: number;
  /** Letters that the selection may hold at most, counted at the beginning. */
  readonly candidates: number;
  /** Letters looked at, of these selected, and of the latter entered, refused again, gone since, replayed before. */
  readonly examined: number;
  readonly selected: number;
  readonly replayed: number;
  readonly failed: number;
  readonly missing: number;
  readonly replayedBefore: number;
  readonly failedByReason: Readonly<Record<string, number>>;
}

export const JOB = new StoredForm<ReplayJob>("replay_jobs", {
  id: text,
  tenant: text,
  selection: object<DeadLetterSelection>({
    ids: optional(list(text)),
    reason: optional(text),
    serviceId: optional(text),
    topic: optional(text),
    fromMs: optional(number),
    toMs: optional(number),
  }),
  createdMs: number,
  finishedMs: nullable(number),
  untilMs: number,
  cursor: nullable(object<NonNullable<ReplayJob["cursor"]>>({ receivedMs: number, id: text })),
  idsDone: number,
  candidates: number,
  examined: number,
  selected: number,
  replayed: number,
  failed: number,
  missing: number,
  replayedBefore: number,
  failedByReason: record(number),
});

/** Key of a job; those of a tenant lie in the order of their creation. */
export function replayJobKey({ tenant, createdMs, id }: Pick<ReplayJob, "tenant" | "createdMs" | "id">): Uint8Array {
  return new KeyBuilder().text(tenant).time(createdMs).fixed(idBytes(id)).finish();
}

/** Jobs that have ended, remembered for those who are informed of it. */
const ENDED_MAX = 16;

/** The committed jobs of all tenants: at most REPLAY_JOBS_KEPT_MAX each. */
export class ReplayBook {
  readonly #jobs = new TenantTable<ReplayJob>(({ id }) => id);
  /** By tenant and id. */
  readonly #unfinished = new Map<string, ReplayJob>();
  #ended: readonly ReplayJob[] = [];

  /** Reads the store; to be called once. */
  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "replay_jobs")) this.put(JOB.decode(value));
  }

  put(job: ReplayJob): void {
    this.#jobs.put(job);
    if (job.finishedMs === null) this.#unfinished.set(jobText(job), job);
    else if (this.#unfinished.delete(jobText(job))) this.#ended = [...this.#ended, job].slice(-ENDED_MAX);
  }

  remove(job: Pick<ReplayJob, "tenant" | "id">): void {
    this.#jobs.remove(job.tenant, job.id);
    this.#unfinished.delete(jobText(job));
  }

  find(tenant: string, id: string): ReplayJob | undefined {
    return this.#jobs.find(tenant, id);
  }

  /** Jobs of a tenant, oldest first. */
  of(tenant: string): ReplayJob[] {
    return this.#jobs.of(tenant);
  }

  /** Whether any tenant has a job that is not done. */
  get hasUnfinished(): boolean {
    return this.#unfinished.size > 0;
  }

  /** Jobs of all tenants that run, and those that ended since then. */
  lately(sinceMs: number): ReplayJob[] {
    return [...this.#unfinished.values(), ...this.#ended.filter(({ finishedMs }) => (finishedMs ?? 0) >= sinceMs)];
  }

  /** Jobs of all tenants that are not done, oldest first. */
  unfinished(): ReplayJob[] {
    return [...this.#unfinished.values()].sort((a, b) => a.createdMs - b.createdMs);
  }
}

/** Ids have one length. */
function jobText({ tenant, id }: Pick<ReplayJob, "tenant" | "id">): string {
  return `${id}${tenant}`;
}
