// The rehearsal of a start (ADR 113): before a thread's engines are made, one of the same code over a memory of its own takes made-up bodies of a tenant that exists nowhere, so that
// V8 has compiled what the first bodies run through. Its log is forgotten, its frames are read by nobody else, and it is dropped: nothing of it is counted or stored.
import { forgottenFiles } from "../../adapters/log/forgotten-files.ts";
import { type LogWriter, openLogWriter } from "../../adapters/log/log-writer.ts";
import type { Clock } from "../../adapters/platform/clock.ts";
import { CoordinatorRingReader } from "../../adapters/shared-memory/coordinator-ring.ts";
import { createEngineMemory, EngineMemory, ProcessSlots } from "../../adapters/shared-memory/engine-memory.ts";
import { writeDescriptor } from "../../core/layout/body-descriptor.ts";
import { BODY_PADDING_BYTES, BODY_RING, PROCESS_LENGTH_BYTES } from "../../core/layout/memory-map.ts";
import type { EngineFrame } from "../../core/protocol/coordinator-frame.ts";
import type { EngineReport } from "../../core/protocol/engine-control.ts";
import { messageOf } from "../../core/text/error-text.ts";
import type { IngestExports } from "../../domain/kernel/ingest-kernel.ts";
import { instantiateKernel } from "../../domain/kernel/kernel-instance.ts";
import type { ShardExports } from "../../domain/kernel/shard-kernel.ts";
import { Engine } from "./engine.ts";
import type { EngineOptions } from "./engine-options.ts";
import { type MadeUpBody, madeUpBodies } from "./made-up-bodies.ts";

/** As many as functions need to be compiled, and no longer than a start may take for it. */
const REPEATS = 300;
const MS_MAX = 350;
const FRAMES_TAKEN = 1_000;

export interface RehearsalLimits {
  readonly repeats: number;
  readonly msMax: number;
}

/** What a rehearsal has done. */
export interface Rehearsed {
  readonly bodies: number;
  /** Statuses of the answers, one a body. */
  readonly statuses: readonly number[];
  readonly frames: readonly EngineFrame["kind"][];
}

/** What a rehearsal needs; `createMemory` is `createEngineMemory` in all but tests. */
export interface RehearsalParts {
  readonly kernelModule: WebAssembly.Module;
  readonly clock: Clock;
  readonly createMemory?: () => WebAssembly.Memory;
}

const NOTHING: Rehearsed = { bodies: 0, statuses: [], frames: [] };

/**
 * Rehearses what engines of these options will do. What is never rehearsed is only compiled later, so nothing of it ends a start: not that the system has no addresses for one more memory, nor
 * a throw, of which the process warns.
 */
export function rehearse(
  options: EngineOptions,
  parts: RehearsalParts,
  limits: RehearsalLimits = { repeats: REPEATS, msMax: MS_MAX },
): Rehearsed {
  try {
    return rehearsed(options, parts, limits);
  } catch (error) {
    process.emitWarning(`the start is not rehearsed: ${messageOf(error)}`);
    return NOTHING;
  }
}

function rehearsed(
  options: EngineOptions,
  { kernelModule, clock, createMemory = createEngineMemory }: RehearsalParts,
  { repeats, msMax }: RehearsalLimits,
): Rehearsed {
  const endMs = clock.monotonicMs() + msMax;
  const memory = memoryOf(createMemory);
  if (memory === undefined) return NOTHING;
  const engine = new RehearsedEngine(options, kernelModule, { clock, memory });
  for (const body of madeUpBodies(repeats, clock.wallMs())) {
    if (clock.monotonicMs() >= endMs) break;
    engine.take(body);
  }
  return engine.end();
}

/** Options of an engine that knows nothing of a tenant that exists. */
function ofNobody({ epoch, seriesLimit, zThreshold, samplesMin, window, seeds, idleMs, retentionMs }: EngineOptions): EngineOptions {
  const stored = { checkpoints: [], logMarks: [] };
  return {
    engine: 0,
    engines: 1,
    epoch,
    seriesLimit,
    zThreshold,
    samplesMin,
    window,
    tenants: ["rehearsal"],
    seeds,
    idleMs,
    retentionMs,
    ...stored,
  };
}

function memoryOf(create: () => WebAssembly.Memory): EngineMemory | undefined {
  try {
    return new EngineMemory(create());
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** An engine, and all that is around it. */
class RehearsedEngine {
  readonly #clock: Clock;
  readonly #memory: EngineMemory;
  readonly #ring: CoordinatorRingReader;
  readonly #engine: Engine;
  readonly #statuses: number[] = [];
  readonly #frames: Array<EngineFrame["kind"]> = [];
  readonly #log: LogWriter;
  #bodies = 0;

  constructor(
    options: EngineOptions,
    kernelModule: WebAssembly.Module,
    { clock, memory }: { readonly clock: Clock; readonly memory: EngineMemory },
  ) {
    this.#clock = clock;
    this.#memory = memory;
    this.#ring = new CoordinatorRingReader(memory);
    this.#log = openLogWriter({ directory: "log", dataDir: ".", epoch: options.epoch, writer: 0, syncEach: false }, forgottenFiles);
    this.#engine = new Engine(ofNobody(options), {
      memories: [this.#memory],
      kernel: instantiateKernel<IngestExports & ShardExports>(kernelModule, this.#memory.memory),
      processSlots: new ProcessSlots(new SharedArrayBuffer(PROCESS_LENGTH_BYTES)),
      log: this.#log,
      replay: { next: () => ({ done: true, value: [] }) },
      clock,
      report: (report) => this.#note(report),
      ringCoordinator: () => undefined,
      takeCommand: () => undefined,
      takeRequest: () => undefined,
      reply: () => undefined,
    });
    this.#rest();
  }

  /** Takes a body and does all that comes of it. */
  take({ kind, bytes }: MadeUpBody): void {
    this.#memory.bytes.set(bytes, BODY_RING);
    this.#memory.bytes.fill(0, BODY_RING + bytes.length, BODY_RING + bytes.length + BODY_PADDING_BYTES);
    const times = { arrivalMs: this.#clock.monotonicMs(), wallMs: this.#clock.wallMs() };
    const sent = { tenant: 0, keyBytes: 0, isAnonymous: false, sender: 0, ...times };
    writeDescriptor(this.#memory.view, this.#bodies, {
      pointer: BODY_RING,
      bytes: bytes.length,
      kind,
      admission: this.#bodies + 1,
      ...sent,
    });
    this.#memory.publishBodies(++this.#bodies);
    this.#rest();
  }

  /** Ends it; what it was is collected with it. */
  end(): Rehearsed {
    this.#log.close();
    return { bodies: this.#bodies, statuses: this.#statuses, frames: this.#frames };
  }

  #rest(): void {
    while (this.#engine.step()) this.#takeFrames();
    this.#takeFrames();
  }

  #takeFrames(): void {
    for (const { kind } of this.#ring.take(FRAMES_TAKEN)) this.#frames.push(kind);
  }

  #note(report: EngineReport): void {
    if (report.type !== "answers") return;
    report.counts.forEach((count, i) => {
      for (let answered = 0; answered < count; answered++) this.#statuses.push(report.statuses[i] as number);
    });
  }
}
