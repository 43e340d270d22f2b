/**
 * Who has which sandbox process. A process belongs to the first tenant that it runs a program for, and to no other: it ends with that tenant's use of it.
 * Beside those of tenants there is one spare, started and locked, so that a tenant's first run does not wait for 0.7 s of start. Runs wait for a process by
 * turns of tenants; a tenant has half of the processes at most, and an idle one of another makes place for a tenant that has none.
 */
import {
  SANDBOX_IDLE_MS,
  SANDBOX_RETRY_MS,
  SANDBOX_RETRY_MS_MAX,
  SANDBOX_WAITING_MAX,
  SANDBOX_WAITING_PER_TENANT_MAX,
} from "../../core/config/sandbox-limits.ts";
import { background, task } from "../../core/faults/guard.ts";
import { errorOf } from "../../core/text/error-text.ts";

/** Process as the pool uses it. */
export interface PooledProcess {
  readonly ready: Promise<unknown>;
  readonly isEnded: boolean;
  kill(): void;
}

export interface ProcessPoolDependencies<P> {
  start(): P;
  monotonicMs(): number;
  /** Calls later, and says how to take that back. */
  later(ms: number, call: () => void): () => void;
}

interface Lease<P> {
  readonly process: P;
  readonly tenant: string;
  isBusy: boolean;
  idleSinceMs: number;
}

interface Wait<P> {
  give(process: P): void;
  refuse(why: Error): void;
}

export class ProcessPool<P extends PooledProcess> {
  readonly #max: number;
  readonly #perTenantMax: number;
  readonly #dependencies: ProcessPoolDependencies<P>;
  readonly #leases = new Set<Lease<P>>();
  readonly #waits = new Map<string, Wait<P>[]>();
  #waiting = 0;
  #spare: P | undefined;
  #isSpareReady = false;
  #isWanted = false;
  #retryMs = SANDBOX_RETRY_MS;
  #cancelRetry: (() => void) | undefined;
  #lastUseMs = 0;

  constructor(max: number, dependencies: ProcessPoolDependencies<P>) {
    this.#max = max;
    this.#perTenantMax = Math.max(1, Math.floor(max / 2));
    this.#dependencies = dependencies;
  }

  /** Processes there are, the spare among them. */
  get processes(): number {
    return this.#leases.size + (this.#spare === undefined ? 0 : 1);
  }

  /** Runs that wait for a process. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether any webhook has a transform: as long as one has, a spare is kept. */
  want(isWanted: boolean): void {
    this.#isWanted = isWanted;
    this.#lastUseMs = this.#dependencies.monotonicMs();
    this.#step();
  }

  /** A process of the tenant's own, once one is free. Rejects where too many wait, or none starts. */
  take(tenant: string): Promise<P> {
    this.#lastUseMs = this.#dependencies.monotonicMs();
    const waits = this.#waits.get(tenant) ?? [];
    if (waits.length >= SANDBOX_WAITING_PER_TENANT_MAX || this.#waiting >= SANDBOX_WAITING_MAX) {
      return Promise.reject(new Error("too many events wait for a process"));
    }
    const input = new Promise<P>((give, refuse) => waits.push({ give, refuse }));
    this.#waits.set(tenant, waits);
    this.#waiting++;
    this.#step();
    return input;
  }

  /** Gives back what `take` gave. */
  giveBack(process: P): void {
    for (const lease of this.#leases) {
      if (lease.process !== process) continue;
      lease.isBusy = false;
      lease.idleSinceMs = this.#dependencies.monotonicMs();
    }
    this.#step();
  }

  /** Ends what has been idle for long. To be called every few seconds. */
  endIdle(): void {
    const endMs = this.#dependencies.monotonicMs() - SANDBOX_IDLE_MS;
    for (const lease of this.#leases) if (!lease.isBusy && lease.idleSinceMs <= endMs) this.#endOne(lease);
    if (this.#isWanted || this.#leases.size > 0 || this.#waiting > 0 || this.#lastUseMs > endMs) return;
    this.#spare?.kill();
    this.#spare = undefined;
  }

  /** Ends all of them; who waits is refused. */
  close(): void {
    this.#cancelRetry?.();
    this.#isWanted = false;
    this.#refuseAll(new Error("the server stops"));
    for (const lease of this.#leases) this.#endOne(lease);
    this.#spare?.kill();
    this.#spare = undefined;
  }

  #step(): void {
    for (const lease of this.#leases) if (lease.process.isEnded) this.#leases.delete(lease);
    if (this.#isSpareReady && this.#spare?.isEnded === true) this.#spare = undefined;
    for (const [tenant, waits] of [...this.#waits]) {
      const lease = this.#leaseFor(tenant);
      if (lease === undefined) continue;
      lease.isBusy = true;
      this.#waiting--;
      // To the end of the turns.
      this.#waits.delete(tenant);
      const wait = waits.shift();
      if (waits.length > 0) this.#waits.set(tenant, waits);
      wait?.give(lease.process);
    }
    if (this.#isWanted || this.#waiting > 0 || this.#leases.size > 0) this.#startSpare();
  }

  /** A process that the tenant may have now. */
  #leaseFor(tenant: string): Lease<P> | undefined {
    const own = [...this.#leases].filter((lease) => lease.tenant === tenant);
    const idle = own.find(({ isBusy }) => !isBusy);
    if (idle !== undefined) return idle;
    if (own.length >= this.#perTenantMax || !this.#isSpareReady || this.#spare === undefined) return undefined;
    if (this.#leases.size >= this.#max && (own.length > 0 || !this.#endLongestIdle())) return undefined;
    const lease: Lease<P> = { process: this.#spare, tenant, isBusy: false, idleSinceMs: 0 };
    this.#spare = undefined;
    this.#leases.add(lease);
    return lease;
  }

  #endLongestIdle(): boolean {
    const [longest] = [...this.#leases].filter(({ isBusy }) => !isBusy).sort((one, other) => one.idleSinceMs - other.idleSinceMs);
    if (longest !== undefined) this.#endOne(longest);
    return longest !== undefined;
  }

  #endOne(lease: Lease<P>): void {
    this.#leases.delete(lease);
    lease.process.kill();
  }

  #startSpare(): void {
    if (this.#spare !== undefined || this.#cancelRetry !== undefined) return;
    const spare = this.#dependencies.start();
    this.#spare = spare;
    this.#isSpareReady = false;
    const failed = (error: unknown) => this.#spareHasFailed(spare, errorOf(error));
    background(
      task("a process to spare"),
      spare.ready.then(() => this.#spareIsReady(spare), failed),
    );
  }

  #spareIsReady(spare: P): void {
    if (this.#spare !== spare) return;
    this.#isSpareReady = true;
    this.#retryMs = SANDBOX_RETRY_MS;
    this.#step();
  }

  #spareHasFailed(spare: P, why: Error): void {
    if (this.#spare !== spare) return;
    this.#spare = undefined;
    this.#refuseAll(why);
    this.#cancelRetry = this.#dependencies.later(this.#retryMs, () => {
      this.#cancelRetry = undefined;
      this.#step();
    });
    this.#retryMs = Math.min(SANDBOX_RETRY_MS_MAX, 2 * this.#retryMs);
  }

  #refuseAll(why: Error): void {
    const waits = [...this.#waits.values()].flat();
    this.#waits.clear();
    this.#waiting = 0;
    for (const { refuse } of waits) refuse(why);
  }
}
