// Streams that have been silent for a day while others of their pair go on: an instance that is gone. Alerts that are open on one end there, and have not recovered.
// Names are read in the next cycle where a service has such a stream, so that a visit reads as many as it may.
import { FLAG_ENDED } from "../../../core/layout/stream-record.ts";
import type { ShardKernel } from "../../kernel/shard-kernel.ts";

/** A stream that is silent for longer while its pair goes on has ended. */
export const SILENT_STREAM_MS = 24 * 3600 * 1000;

export interface SilentStreamsDependencies {
  readonly kernel: ShardKernel;
  nameOf(slot: number): { readonly environment: string; readonly metricName: string };
  isFiring(slot: number): boolean;
  endSilent(slot: number): void;
}

/** Those of the service at hand. */
export class SilentStreams {
  readonly #dependencies: SilentStreamsDependencies;
  /** Services that had such a stream in their last visit. */
  readonly #having = new Set<string>();
  readonly #goingOn = new Set<string>();
  #silent: number[] = [];
  #sinceMs = 0;
  /** Whether the pairs that go on are asked for, by name. */
  wantsNames = false;

  constructor(dependencies: SilentStreamsDependencies) {
    this.#dependencies = dependencies;
  }

  begin(service: string, nowMs: number): void {
    this.#sinceMs = nowMs - SILENT_STREAM_MS;
    this.#silent = [];
    this.#goingOn.clear();
    this.wantsNames = this.#having.has(service);
  }

  inspect(slot: number): void {
    const { kernel, isFiring } = this.#dependencies;
    const { records } = kernel;
    if (records.lastTimeMs(slot) < this.#sinceMs) {
      if (isFiring(slot)) this.#silent.push(slot);
    } else if (this.wantsNames && (records.flags(slot) & FLAG_ENDED) === 0) this.#goingOn.add(this.#pairOf(slot));
  }

  /** All streams of the service have been looked at. */
  judge(service: string): void {
    if (this.#silent.length === 0) {
      this.#having.delete(service);
      return;
    }
    if (this.wantsNames) for (const slot of this.#silent) if (this.#goingOn.has(this.#pairOf(slot))) this.#dependencies.endSilent(slot);
    this.#having.add(service);
  }

  #pairOf(slot: number): string {
    const { environment, metricName } = this.#dependencies.nameOf(slot);
    return `${environment}\0${metricName}`;
  }
}
