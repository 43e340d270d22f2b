// Samples of remote-write and OTLP that are NaN or infinite: a recording rule of 0/0 sends one every few seconds. They are kept out and counted, and fail nothing, for whoever
// sends them could do no better by sending them again. One dead letter a series and hour says that it is so: its id is their hash and its time the hour's beginning, so the
// store knows it without any state here, and such letters do not push others out.

import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { NOT_FINITE_LETTERS_MAX } from "../../../core/config/body-limits.ts";
import { HOUR_MS } from "../../../core/time/durations.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import type { DeadLetterGroups } from "../../../domain/series/dead-letter-groups.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { Body } from "./body.ts";
import { contentHash } from "./content-hash.ts";
import type { WorkUnit } from "./work-unit.ts";

export interface NotFiniteSamplesDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly counters: EngineCounters;
  readonly tenantName: (index: number) => string;
}

/** Those of one body at a time. */
export class NotFiniteSamples {
  readonly #topic: string;
  readonly #dependencies: NotFiniteSamplesDependencies;
  /** Letters of the body. */
  readonly #letters = new Set<string>();
  /** Samples of the body that were kept out. */
  count = 0;

  constructor(topic: string, dependencies: NotFiniteSamplesDependencies) {
    this.#topic = topic;
    this.#dependencies = dependencies;
  }

  /** A body begins. */
  begin(): void {
    this.count = 0;
    this.#letters.clear();
  }

  /** Counts a sample; `series` is anything whose JSON is the series' own. */
  keepOut(series: unknown, message: string, payload: unknown, body: Body, unit: WorkUnit, letters: DeadLetterGroups): void {
    const { counters, tenantName } = this.#dependencies;
    this.count++;
    counters.rejected("metric", "invalid_value", 1);
    unit.worked(0);
    const tenant = tenantName(body.tenant);
    const receivedMs = body.wallMs - (body.wallMs % HOUR_MS);
    const id = contentHash(JSON.stringify(["not finite", tenant, receivedMs, this.#topic, series]), this.#dependencies);
    if (this.#letters.has(id) || this.#letters.size >= NOT_FINITE_LETTERS_MAX) return;
    this.#letters.add(id);
    const { isAnonymous: anonymous } = body;
    const letter = {
      tenant,
      id,
      reason: "invalid_value",
      field: "value",
      message,
      topic: this.#topic,
      receivedMs,
      anonymous,
      payload,
    } as const;
    unit.addDeadLetter(letter, letters);
  }
}
