// All engines as the main thread sees them: their memories, their threads, and how far each is. Before the threads start, whoever talks to engines is given his
// ends: the coordinator a port of each, the front views that ring their bells. The threads load their modules while the coordinator opens its stores, and are told
// to begin when it has said what is stored.
import { readFileSync } from "node:fs";
import { systemClock } from "../../adapters/platform/clock.ts";
import { compileKernel } from "../../adapters/platform/compiled-kernel.ts";
import { type PageCollapse, pageCollapse } from "../../adapters/platform/huge-pages.ts";
import { createEngineMemory, type EngineMemory, enlargePages } from "../../adapters/shared-memory/engine-memory.ts";
import { enginesOfThread, threadCount, viewMemories } from "../../adapters/shared-memory/engine-threads.ts";
import { LargePages } from "../../adapters/shared-memory/large-pages.ts";
import { ActorHandle } from "../../adapters/threads/actor-handle.ts";
import type { ActorStart, ActorThread } from "../../adapters/threads/actor-thread.ts";
import { type Channel, createChannel, type Handlers, type MessagePort } from "../../adapters/threads/mailbox.ts";
import { background, fatal, sleep, task } from "../../core/faults/guard.ts";
import { ENGINE_COUNTERS, ENGINE_SLOTS, type EngineCounter } from "../../core/layout/counters.ts";
import { PROCESS_LENGTH_BYTES } from "../../core/layout/memory-map.ts";
import type { EngineCommand, EngineReply, EngineReport, EngineRequest, FramesPlaced } from "../../core/protocol/engine-control.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { EngineBegin, EngineThreadData } from "./worker.ts";

/** Interval at which is looked for pages of streams that are in use and small, and rests between two of them. */
const PAGES_IDLE_MS = 500;
const PAGES_REST_MS_MIN = 5;
const PAGES_REST_SHARE = 4;

interface GroupedEngine {
  readonly memory: EngineMemory;
  readonly counters: Float64Array;
  /** Main (first) and the engine (second) talk through it. */
  readonly own: Channel<EngineReport, EngineCommand | EngineBegin>;
  /** The coordinator (first) and the engine (second) talk through it. */
  readonly coordinator: Channel<EngineReply | FramesPlaced, EngineRequest>;
  readonly handle: ActorHandle<ServingReport, EngineCommand | EngineBegin>;
}

/** Messages of an engine before it has stopped. */
export type ServingReport = Exclude<EngineReport, { readonly type: "stopped" }>;

/** Where engines keep their logs, and what makes a thread of them. */
export interface EngineThreads {
  readonly dataDir: string;
  readonly syncEach: boolean;
  /** Starts a thread with a built file, relative to `dist/`. */
  readonly startThread: (name: string, file: string, start: () => ActorStart) => ActorThread;
}

/** What engines begin with, and who takes their messages. */
export interface EngineStart {
  readonly options: (engine: number) => EngineOptions;
  readonly handlers: (engine: number) => Handlers<ServingReport>;
}

/** The engines of the process. */
export class EngineGroup {
  /** Memories of all engines, in order. */
  readonly memories: readonly WebAssembly.Memory[];
  readonly views: readonly EngineMemory[];
  readonly threadCount: number;
  /** Why there are no large pages; undefined where there are. */
  readonly smallPages: string | undefined;
  /** Makes pages large once they are in use; undefined where they have to be large from the beginning. */
  readonly #collapse: PageCollapse | undefined;
  readonly #engines: readonly GroupedEngine[];
  #threads: readonly ActorThread[] = [];
  #kernelModule: WebAssembly.Module | undefined;
  #isStarted = false;
  #unready: number;

  constructor(count: number) {
    this.#unready = count;
    this.memories = Array.from({ length: count }, createEngineMemory);
    this.#collapse = pageCollapse();
    if (this.#collapse === undefined) this.smallPages = this.memories.map(enlargePages).find((reason) => reason !== undefined);
    this.threadCount = threadCount(count);
    this.views = viewMemories(this.memories, this.threadCount);
    this.#engines = this.views.map((memory) => {
      const own = createChannel<EngineReport, EngineCommand | EngineBegin>();
      const handle = new ActorHandle<ServingReport, EngineCommand | EngineBegin>(own.first);
      return { memory, counters: memory.counters(ENGINE_SLOTS), own, coordinator: createChannel(), handle };
    });
  }

  get count(): number {
    return this.#engines.length;
  }

  /** "1 engine", or "8 engines in 2 threads" where they share some. */
  get text(): string {
    const engines = counted(this.count, "engine");
    return this.threadCount === this.count ? engines : `${engines} in ${counted(this.threadCount, "thread")}`;
  }

  /** The coordinator's ends, to be moved to its thread. */
  get coordinatorPorts(): readonly MessagePort[] {
    return this.#engines.map(({ coordinator }) => coordinator.first.raw);
  }

  get counters(): readonly Float64Array[] {
    return this.#engines.map(({ counters }) => counters);
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Engines that still read what is stored. */
  get unready(): number {
    return this.#unready;
  }

  sum(name: EngineCounter): number {
    return this.#engines.reduce((total, { counters }) => total + (counters[ENGINE_COUNTERS.indexOf(name)] as number), 0);
  }

  /** Starts all threads, which then wait; compiles the kernel meanwhile. */
  load({ dataDir, syncEach, startThread }: EngineThreads): void {
    const shared = {
      ...{ threads: this.threadCount, dataDir, syncEach, memories: this.memories },
      processSlots: new SharedArrayBuffer(PROCESS_LENGTH_BYTES),
    };
    this.#threads = Array.from({ length: this.threadCount }, (_, thread) => {
      const numbers = enginesOfThread(thread, this.count, this.threadCount);
      const engines = numbers.map((engine) => {
        const { own, coordinator } = this.#engines[engine] as GroupedEngine;
        return { engine, mainPort: own.second.raw, coordinatorPort: coordinator.second.raw };
      });
      const ports = engines.flatMap(({ mainPort, coordinatorPort }) => [mainPort, coordinatorPort]);
      const name = `engine${numbers.length === 1 ? "" : "s"} ${numbers.join(", ")}`;
      const data: EngineThreadData = { ...shared, engines };
      return startThread(name, "./actors/engine/worker.js", () => ({ data, ports }));
    });
    this.#kernelModule = compileKernel(readFileSync(new URL("../../domain/kernel/kernel.wasm", import.meta.url)));
  }

  /** Has the engines of all threads begin; resolves when every engine serves. To be called behind `load`. */
  async start(start: EngineStart): Promise<void> {
    this.#isStarted = true;
    const kernelModule = this.#kernelModule as WebAssembly.Module;
    this.#engines.forEach(({ handle, memory }, engine) => {
      const handlers = start.handlers(engine);
      const ready: typeof handlers.ready = (report) => {
        handle.ready.give();
        this.#unready--;
        handlers.ready(report);
      };
      handle.serve({ ...handlers, ready }, fatal("a message of an engine"));
      handle.mailbox.send({ type: "begin", options: start.options(engine), kernelModule });
      memory.ringBell();
    });
    await Promise.all(this.#engines.map(({ handle }) => handle.ready.resolved));
    if (this.#collapse !== undefined) background(task("the large pages of streams"), this.#enlargePages(this.#collapse));
  }

  /** Makes pages of streams large behind their first use, for ever; a fifth of one thread's time, in which nobody waits for it. */
  async #enlargePages(collapse: PageCollapse): Promise<void> {
    const streams = ENGINE_COUNTERS.indexOf("streams");
    const engines = this.#engines.map(({ memory, counters }) => ({ memory, streams: () => counters[streams] as number }));
    const pages = new LargePages(engines, collapse, systemClock.monotonicMs);
    for (;;) {
      const tookMs = await pages.step();
      await sleep(tookMs === 0 ? PAGES_IDLE_MS : Math.max(PAGES_REST_MS_MIN, PAGES_REST_SHARE * tookMs), { unref: true });
    }
  }

  /** Tells every engine that has been started. */
  send(command: EngineCommand): void {
    if (this.isStarted) for (const { handle } of this.#engines) handle.mailbox.send(command);
  }

  /** Has all engines that were started write their checkpoints and end; resolves when they have. Threads that still wait are ended. */
  async stop(): Promise<void> {
    if (!this.isStarted) {
      await Promise.all(this.#threads.map((thread) => thread.terminate()));
      return;
    }
    for (const { handle, memory } of this.#engines) {
      handle.reportStop();
      memory.ringBell();
    }
    await Promise.all(this.#engines.map(({ handle }) => handle.stopped));
  }

  /** Resolves when all threads have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#threads.map(({ ended }) => ended));
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
