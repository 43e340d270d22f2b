/**
 * Sandbox: runs the transforms of tenants, which are hostile until shown otherwise, each in a process of its tenant's own behind three walls: the interpreter,
 * the limits of the process, and a filter of system calls ([ADR 108](../../../docs/adr/0108-programs-of-tenants.md)). No process runs before somebody has a transform.
 *
 * Overruns of programs: one that overran its limits three times in ten minutes is suspended until the first of them is ten minutes old.
 *
 * What a sandbox process calls a payload is checked here: a process that was broken may say anything.
 */
import { createHash } from "node:crypto";
import { BoundedMap } from "../../core/collections/bounded-map.ts";
import {
  SANDBOX_IDLE_CHECK_MS,
  TRANSFORM_INPUT_BYTES_MAX,
  TRANSFORM_KILLS_MAX,
  TRANSFORM_KILLS_PERIOD_MS,
  TRANSFORM_OUTPUT_LEVELS_MAX,
  TRANSFORM_PENALTIES_MAX,
  TRANSFORM_PROGRAM_CHARACTERS_MAX,
} from "../../core/config/sandbox-limits.ts";
import { after, background, every, task } from "../../core/faults/guard.ts";
import { messageOf } from "../../core/text/error-text.ts";
import type { SandboxReport, SandboxWalls } from "../../domain/webhooks/outbound-messages.ts";
import type { EventTransforms, Transform, TransformOutcome } from "../../domain/webhooks/transform.ts";
import { systemClock } from "../platform/clock.ts";
import { WrapperChoice } from "./bubblewrap.ts";
import type { Request } from "./frames.ts";
import { ProcessPool } from "./process-pool.ts";
import { type ProcessWalls, type RunEnd, SandboxProcess, sandboxWrapper } from "./sandbox-process.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export interface SandboxSettings {
  /** Processes that tenants hold at once. */
  readonly processes: number;
  /** Python without the kernel's wall: its interpreter is native code. */
  readonly allowsPythonUnfiltered: boolean;
  /** Walls or counts have changed. */
  changed?(): void;
}

const SANDBOX = task("the sandbox");

export class Sandbox implements EventTransforms {
  readonly #allowsPythonUnfiltered: boolean;
  readonly #pool: ProcessPool<SandboxProcess>;
  readonly #overruns = new Overruns();
  readonly #check: NodeJS.Timeout;
  readonly #counts = { runs: 0, failures: 0, kills: 0, starts: 0 };
  readonly #changed: () => void;
  readonly #wrapper = new WrapperChoice(sandboxWrapper, () => systemClock.monotonicMs());
  #walls: SandboxWalls | undefined;

  constructor({ processes, allowsPythonUnfiltered, changed = () => undefined }: SandboxSettings) {
    this.#allowsPythonUnfiltered = allowsPythonUnfiltered;
    this.#changed = changed;
    this.#pool = new ProcessPool(processes, {
      start: () => this.#start(),
      monotonicMs: () => systemClock.monotonicMs(),
      later: (ms, call) => {
        const timer = after(ms, SANDBOX, call);
        return () => clearTimeout(timer);
      },
    });
    this.#check = every(SANDBOX_IDLE_CHECK_MS, SANDBOX, () => this.#pool.endIdle());
    this.#check.unref();
  }

  /** Walls of the newest process; undefined before there was one. */
  get walls(): SandboxWalls | undefined {
    return this.#walls;
  }

  get report(): SandboxReport {
    const counts = { ...this.#counts, processes: this.#pool.processes, waiting: this.#pool.waiting };
    return { walls: this.#walls ?? null, counts };
  }

  /** Whether any webhook has a transform: a spare process is kept as long as one has. */
  want(isWanted: boolean): void {
    this.#pool.want(isWanted);
  }

  async transformEvent(tenant: string, transform: Transform, eventJson: string): Promise<TransformOutcome> {
    const request = requestOf(transform, eventJson);
    if (typeof request === "string") return failed(request, null, false);
    const key = programKey(tenant, request);
    const untilMs = this.#overruns.suspendedUntilMs(key, systemClock.wallMs());
    if (untilMs !== undefined) {
      return failed(`suspended until ${new Date(untilMs).toISOString()}: it overran its limits three times in ten minutes`, null, true);
    }
    try {
      const first = await this.#run(tenant, request);
      // What another program has done to the process is no failure of this one: it has a fresh one to itself.
      const isOthers = BROKEN.has(first.end.kind) && !first.isFresh;
      if (isOthers) this.#counts.kills++;
      return this.#outcome(key, isOthers ? (await this.#run(tenant, request)).end : first.end);
    } catch (error) {
      return failed(messageOf(error), null, true);
    }
  }

  /** One run, in a process of the tenant's. Rejects where there is none. */
  async #run(tenant: string, request: Request): Promise<{ readonly end: RunEnd; readonly isFresh: boolean }> {
    const process = await this.#pool.take(tenant);
    const isFresh = process.runs === 0;
    const refusal = request.language === "python" ? await this.#pythonProblem(process) : undefined;
    const end: RunEnd = refusal === undefined ? await process.run(request) : { kind: "failed", text: refusal, line: null };
    this.#pool.giveBack(process);
    return { end, isFresh };
  }

  /** Ends all processes. */
  close(): void {
    clearInterval(this.#check);
    this.#pool.close();
  }

  #start(): SandboxProcess {
    this.#counts.starts++;
    const wrapper = this.#wrapper.next();
    const process = new SandboxProcess(true, wrapper);
    process.onEnd(() => {
      this.#pool.endIdle();
      this.#changed();
    });
    const failed = () => this.#wrapper.failed(wrapper);
    const ready = (walls: ProcessWalls) => {
      this.#wrapper.started(wrapper);
      this.#takeWalls(walls, wrapper !== undefined);
    };
    background(SANDBOX, process.ready.then(ready, failed));
    return process;
  }

  #takeWalls({ limits, kernel, missing, languages }: ProcessWalls, namespaces: boolean): void {
    const python = languages.includes("python") && (kernel || this.#allowsPythonUnfiltered);
    const usable = languages.filter((one) => one !== "python" || python);
    this.#walls = { interpreter: true, process: limits, kernel, missing, namespaces, languages: usable };
    this.#changed();
  }

  async #pythonProblem(process: SandboxProcess): Promise<string | undefined> {
    const { kernel, missing } = await process.ready;
    if (kernel || this.#allowsPythonUnfiltered) return undefined;
    return `python is off where the kernel's wall does not stand (${missing}); TRANSFORM_PYTHON=true switches it on`;
  }

  #outcome(key: string, end: RunEnd): TransformOutcome {
    this.#counts.runs++;
    this.#changed();
    if (end.kind === "payload") {
      const problem = payloadProblem(end.text);
      if (problem === undefined) return { kind: "payload", json: end.text };
      this.#counts.failures++;
      return failed(problem, null, false);
    }
    if (end.kind === "dropped") return { kind: "dropped", error: end.text };
    this.#counts.failures++;
    if (end.kind === "killed" || end.kind === "overrun" || BROKEN.has(end.kind)) {
      this.#counts.kills++;
      this.#overruns.add(key, systemClock.wallMs());
    }
    return failed(end.text, end.line, false);
  }
}

/** Ends of a run in which its process broke, by this program or by one before it. */
const BROKEN: ReadonlySet<RunEnd["kind"]> = new Set(["crashed", "trapped"]);

function failed(error: string, line: number | null, retry: boolean): TransformOutcome {
  return { kind: "failed", error, line, retry };
}

/** Request to the process; or why nothing is run. */
function requestOf({ type, expression, code }: Transform, event: string): Request | string {
  const program = type === "jq" ? expression : code;
  if (program === null) return type === "jq" ? "a jq transform has an expression" : `a ${type} transform has code`;
  if (program.length > TRANSFORM_PROGRAM_CHARACTERS_MAX)
    return `it has ${program.length} characters, more than ${TRANSFORM_PROGRAM_CHARACTERS_MAX}`;
  if (Buffer.byteLength(event) > TRANSFORM_INPUT_BYTES_MAX) return `the event has more than ${TRANSFORM_INPUT_BYTES_MAX} bytes`;
  return { language: type, program, event };
}

export class Overruns {
  readonly #momentsMs = new BoundedMap<string, readonly number[]>(TRANSFORM_PENALTIES_MAX);

  /** When a program that is suspended may run again; undefined where it may now. */
  suspendedUntilMs(key: string, nowMs: number): number | undefined {
    const [first, ...others] = this.#within(key, nowMs);
    return first !== undefined && others.length + 1 >= TRANSFORM_KILLS_MAX ? first + TRANSFORM_KILLS_PERIOD_MS : undefined;
  }

  add(key: string, nowMs: number): void {
    this.#momentsMs.set(key, [...this.#within(key, nowMs), nowMs]);
  }

  #within(key: string, nowMs: number): readonly number[] {
    return (this.#momentsMs.get(key) ?? []).filter((momentMs) => momentMs > nowMs - TRANSFORM_KILLS_PERIOD_MS);
  }
}

/** Key of a tenant's program. */
export function programKey(tenant: string, { language, program }: Pick<Request, "language" | "program">): string {
  return createHash("sha256")
    .update(JSON.stringify([tenant, language, program]))
    .digest("base64");
}

/** Why a text is no payload; undefined where it is one. */
export function payloadProblem(text: string): string | undefined {
  if (levelsOf(text) > TRANSFORM_OUTPUT_LEVELS_MAX) return `the payload is nested more than ${TRANSFORM_OUTPUT_LEVELS_MAX} deep`;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return "the payload is no JSON";
  }
}

/** Deepest level of a JSON text, told without recursion. */
function levelsOf(text: string): number {
  let level = 0;
  let deepest = 0;
  let isInText = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInText) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE) isInText = true;
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++level);
    else if (code === 0x5d || code === 0x7d) level--;
  }
  return deepest;
}
