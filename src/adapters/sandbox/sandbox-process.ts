// One sandbox process as the server sees it: started, one run at a time, killed at the first thing that is not as it should be.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants, setPriority } from "node:os";
import type { Readable, Writable } from "node:stream";
import { SANDBOX_START_MS_MAX, TRANSFORM_KILL_GRACE_MS, TRANSFORM_RUN_MS_MAX } from "../../core/config/sandbox-limits.ts";
import { after, child, listen, listenOnce } from "../../core/faults/guard.ts";
import { findWrapper, type Wrapper } from "./bubblewrap.ts";
import {
  ANSWER_DESCRIPTOR,
  ANSWER_HEAD_BYTES,
  type Answer,
  answerRestBytes,
  type Language,
  NONCE_BYTES,
  REQUEST_DESCRIPTOR,
  type Request,
  readAnswer,
  requestFrame,
} from "./frames.ts";

/** Walls of a process, told by itself before it has read anything of a tenant. */
export interface ProcessWalls {
  /** Limits of the process; the filter of system calls; why one of them is missing. */
  readonly limits: boolean;
  readonly kernel: boolean;
  readonly missing: string | null;
  readonly languages: readonly Language[];
}

/** `killed`: the run overran a limit; `crashed`: its process ended under it. The process is of no use any more. */
export type RunEnd = Answer | { readonly kind: "killed" | "crashed"; readonly text: string; readonly line: null };

/** The collector's heap holds events and answers; programs have memory of their own. */
const HEAP_MB = 64;
const FILE = new URL("./child/runner.js", import.meta.url).pathname.replace("/src/", "/dist/");
/** The folder of the server. */
const ROOT = new URL("../../../", import.meta.url).pathname;

/** Wrapper for sandbox processes; undefined where there is none. */
export function sandboxWrapper(): Wrapper | undefined {
  return findWrapper(process.execPath, ROOT);
}

export class SandboxProcess {
  readonly #child: ChildProcess;
  readonly #home = child("a sandbox process", () => this.kill());
  readonly #expected: Waiting;
  /** Runs that it has been given. */
  #runs = 0;
  #waiting: Waiting | undefined;
  #received: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;
  #onEnd: () => void = () => undefined;
  /** Resolves once it is locked. Rejects with why it is not. */
  readonly ready: Promise<ProcessWalls>;

  constructor(withPython: boolean, wrapper: Wrapper | undefined) {
    const command = [...(wrapper ?? []), process.execPath, `--max-old-space-size=${HEAP_MB}`, "--no-warnings", FILE];
    const [program, ...parameters] = [...command, ...(withPython ? ["--python"] : [])] as [string, ...string[]];
    this.#child = spawn(program, parameters, {
      env: {},
      cwd: "/",
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    listenOnce(this.#child, "error", this.#home, () => this.#end());
    listenOnce(this.#child, "exit", this.#home, () => this.#end());
    listen(this.#answers, "data", this.#home, (bytes: Buffer) => this.#take(bytes));
    for (const stream of [this.#answers, this.#requests]) listen(stream, "error", this.#home, () => this.kill());
    this.#lower();
    this.#expected = waiting(Buffer.alloc(NONCE_BYTES));
    this.#expect(this.#expected, SANDBOX_START_MS_MAX);
    this.ready = this.#expected.end.then((end) => {
      if (end.kind !== "ready") throw new Error(`the sandbox process does not start: ${end.text}`);
      return JSON.parse(end.text) as ProcessWalls;
    });
    this.ready.catch(() => undefined);
  }

  /** Whether it has ended, or is about to. */
  get isEnded(): boolean {
    return this.#isEnded || this.#child.killed;
  }

  /** Runs that it has been given: what one program did to it may be what another fails of. */
  get runs(): number {
    return this.#runs;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Called once when it has ended. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  /** Runs one program on one event. Never rejects. Not to be called before the last run has ended. */
  run(request: Request): Promise<RunEnd> {
    const nonce = randomBytes(NONCE_BYTES);
    const expected = waiting(nonce);
    if (this.isEnded) return Promise.resolve(killed("its process has ended"));
    this.#runs++;
    this.#expect(expected, TRANSFORM_RUN_MS_MAX + TRANSFORM_KILL_GRACE_MS);
    this.#requests.write(requestFrame(nonce, request));
    return expected.end;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  get #requests(): Writable {
    return this.#child.stdio[REQUEST_DESCRIPTOR] as Writable;
  }

  get #answers(): Readable {
    return this.#child.stdio[ANSWER_DESCRIPTOR] as Readable;
  }

  /** Programs of tenants come behind everything of the server's own. */
  #lower(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // It has ended already.
    }
  }

  #expect(expected: Waiting, ms: number): void {
    this.#waiting = expected;
    this.#received = Buffer.alloc(0);
    this.#timer = after(ms, this.#home, () => this.#fail(`it ran longer than ${ms} ms`));
  }

  #take(bytes: Buffer): void {
    const expected = this.#waiting;
    if (expected === undefined) return this.kill(); // nobody asked
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    if (this.#received.length < ANSWER_HEAD_BYTES) return;
    const rest = answerRestBytes(this.#received, expected.nonce);
    const end = rest === undefined ? -1 : ANSWER_HEAD_BYTES + rest;
    if (end < 0 || this.#received.length > end) return this.#fail("its process answered what it was not asked");
    if (this.#received.length < end) return;
    const answer = readAnswer(this.#received.subarray(ANSWER_HEAD_BYTES));
    if (answer === undefined || (answer.kind === "ready") !== (expected === this.#expected))
      return this.#fail("its process answered what it was not asked");
    if (answer.kind === "overrun" || answer.kind === "trapped") this.kill();
    this.#give(answer);
  }

  #fail(text: string): void {
    this.kill();
    this.#give(killed(text));
  }

  #give(end: RunEnd): void {
    clearTimeout(this.#timer);
    const expected = this.#waiting;
    this.#waiting = undefined;
    expected?.give(end);
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#give({ kind: "crashed", text: "it ended its process: out of memory, or a fault of the interpreter", line: null });
    this.#onEnd();
  }
}

interface Waiting {
  readonly nonce: Buffer;
  readonly end: Promise<RunEnd>;
  give(end: RunEnd): void;
}

function waiting(nonce: Buffer): Waiting {
  let give: (end: RunEnd) => void = () => undefined;
  const end = new Promise<RunEnd>((resolve) => {
    give = resolve;
  });
  return { nonce, end, give };
}

function killed(text: string): RunEnd {
  return { kind: "killed", text, line: null };
}
