/**
 * Jobs: work that is asked for and takes longer than its answer. What they have in common stands here, what one kind does in its runner.
 *
 *   state      a row; JobBook has the rows in memory and commits each change together with what goes with it
 *   progress   a member of the row, stored with its changes or in memory alone (`replaces` with nothing to commit), or what RunningJobs is told
 *   cancel     whoever cancels stores an ended row; `move` of the runner then changes nothing and says so
 *   limits     open jobs are places of the ledger `shares`; RunningJobs does one at a time of each key
 *   history    so many ended ones of a tenant stay in memory; `excess` are those that a store lets go when one more comes
 *   restart    a row stays open and its runner goes on with it (replays, runs), or `interrupted` ends it (trainings); what had no row is gone (backups, drills)
 */
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { TenantTable } from "../../core/collections/tenant-table.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { scan } from "./scan.ts";
import type { StoredForm } from "./stored-json.ts";

interface Job {
  readonly tenant: string;
  readonly id: string;
}

/** How jobs of one kind are stored, and what their rows say. */
export interface JobKind<Row extends Job> {
  readonly table: string;
  readonly form: StoredForm<Row>;
  key(job: Row): Uint8Array;
  createdMs(job: Row): number;
  /** Null while the job is open. */
  endedMs(job: Row): number | null;
  /** Ended jobs of a tenant that stay in memory. */
  readonly endedMax?: number;
}

/** Changes that are committed with a job's row, and taken over after it. */
export interface JobDraft {
  operations(): readonly StoreOperation[];
  apply(): void;
}

/** Jobs that have ended, remembered for those who are informed of it. */
const LATELY_MAX = 16;

/** The jobs of one kind, of all tenants. */
export class JobBook<Row extends Job> {
  /** Who has how many that are open. */
  readonly shares: ShareLedger;
  readonly #kind: JobKind<Row>;
  readonly #jobs = new TenantTable<Row>(({ id }) => id);
  /** By id and tenant; those that moved last stand last. Ids have one length. */
  readonly #open = new Map<string, Row>();
  #lately: readonly Row[] = [];

  constructor(kind: JobKind<Row>, shares = ShareLedger.alone()) {
    this.#kind = kind;
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, this.#kind.table)) this.put(this.#kind.form.decode(value));
  }

  /** Takes a row over; returns whether its job has ended with it. */
  put(job: Row): boolean {
    const { endedMs, endedMax } = this.#kind;
    const wasOpen = this.#open.delete(jobText(job));
    this.#jobs.put(job);
    if (endedMs(job) === null) {
      this.#open.set(jobText(job), job);
      if (!wasOpen) this.shares.add(job.tenant);
      return false;
    }
    if (wasOpen) {
      this.shares.give(job.tenant);
      this.#lately = [...this.#lately, job].slice(-LATELY_MAX);
    }
    if (endedMax !== undefined) for (const old of this.excess(job.tenant, endedMax + 1)) this.remove(old);
    return wasOpen;
  }

  remove({ tenant, id }: Job): void {
    const job = this.#jobs.remove(tenant, id);
    if (job !== undefined && this.#open.delete(jobText(job))) this.shares.give(tenant);
  }

  find(tenant: string, id: string): Row | undefined {
    return this.#jobs.find(tenant, id);
  }

  get tenants(): Iterable<string> {
    return this.#jobs.tenants;
  }

  /** Jobs of a tenant, oldest first. */
  of(tenant: string): Row[] {
    return this.#sorted(this.#jobs.of(tenant));
  }

  /** Open jobs of all tenants, those that moved last behind the others. */
  get open(): ReadonlyMap<string, Row> {
    return this.#open;
  }

  /** Open jobs of all tenants, oldest first. */
  oldest(): Row[] {
    return this.#sorted(this.#open.values());
  }

  /** Jobs of all tenants that are open, and those that ended since then. */
  lately(sinceMs: number): Row[] {
    return [...this.#open.values(), ...this.#lately.filter((job) => (this.#kind.endedMs(job) ?? 0) >= sinceMs)];
  }

  /** Ended jobs of a tenant that go when one more comes and `most` of them stay. */
  excess(tenant: string, most: number): Row[] {
    const ended = this.of(tenant).filter((job) => this.#kind.endedMs(job) !== null);
    return ended.slice(0, Math.max(0, ended.length + 1 - most));
  }

  /** The operations that store a job. */
  stored(job: Row): StoreOperation {
    return { table: this.#kind.table, key: this.#kind.key(job), value: this.#kind.form.encode(job) };
  }

  /** The operation that deletes a job. */
  removal(job: Row): StoreOperation {
    return { table: this.#kind.table, key: this.#kind.key(job), value: undefined };
  }

  /** Stores rows with what goes with them, and takes all of it over. Rejects with StoreError; nothing has changed then. */
  async commit(store: KeyValueStore, jobs: readonly Row[], ...drafts: readonly JobDraft[]): Promise<void> {
    await store.commit([...jobs.map((job) => this.stored(job)), ...drafts.flatMap((draft) => draft.operations())]);
    for (const job of jobs) this.put(job);
    for (const draft of drafts) draft.apply();
  }

  /** Ends what ran when the server ended, as `interrupted` says; returns how many. */
  async interrupt(store: KeyValueStore, interrupted: (job: Row) => Row | undefined): Promise<number> {
    const ended = this.oldest().flatMap((job) => interrupted(job) ?? []);
    if (ended.length > 0) await this.commit(store, ended);
    return ended.length;
  }

  #sorted(jobs: Iterable<Row>): Row[] {
    const { createdMs } = this.#kind;
    return [...jobs].sort((a, b) => createdMs(a) - createdMs(b) || (a.id < b.id ? -1 : 1));
  }
}

function jobText({ tenant, id }: Job): string {
  return `${id}${tenant}`;
}

/** Key of a job where one runs at a time in the whole server. */
export const ONLY_JOB = "";

/** What is done now, at most one job of a key, and how far it is. */
export class RunningJobs<Progress> {
  readonly #running = new Map<string, { progress: Progress; ended: Promise<unknown> }>();

  /** Progress of the job of a key; undefined where none runs. */
  of(key: string): Progress | undefined {
    return this.#running.get(key)?.progress;
  }

  /** Notes how far the job of a key is. */
  moved(key: string, progress: Progress): void {
    const running = this.#running.get(key);
    if (running !== undefined) running.progress = progress;
  }

  /** Begins the job of a key, which must not run; resolves with what it gives. */
  begin<T>(key: string, progress: Progress, work: () => Promise<T>): Promise<T> {
    const running = { progress, ended: Promise.resolve<unknown>(undefined) };
    this.#running.set(key, running);
    const ended = work().finally(() => this.#running.delete(key));
    running.ended = ended;
    return ended;
  }

  async idle(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ ended }) => ended));
  }
}
