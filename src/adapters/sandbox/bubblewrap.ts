// bubblewrap (bwrap(1)) around a sandbox process where it is found and may make namespaces: no network, no other process, and of files only what the interpreters
// are loaded from. The process needs none of it once it is locked; it stands where a system has no filter of system calls that is known here.
// Whether the next sandbox process starts in a wrapper. A machine may be short of something for a moment: a wrapper is given up after several starts in a row have
// failed in it, and looked for again a while later.

import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { SANDBOX_WRAPPER_CHECK_MS, SANDBOX_WRAPPER_FAILURES_MAX } from "../../core/config/sandbox-limits.ts";

/** Where packages of systems put it; a PATH is not asked. */
const PLACES = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];
/** Folders of the system, for the loader of native libraries. */
const SYSTEM = ["/usr", "/lib", "/lib64", "/etc/ld.so.cache"];
/** Entries of the server's own folder. Its data may lie beside them. */
const OWN = ["dist", "node_modules", "package.json"];
const TRIAL_MS_MAX = 3_000;

/** Prefix of a command: the program and its parameters. */
export type Wrapper = readonly [program: string, ...parameters: string[]];

/** A wrapper for `command` that runs from `root`; undefined where there is none, or it may not do its work. Waits some 20 ms for a trial. */
export function findWrapper(command: string, root: string): Wrapper | undefined {
  const program = process.platform === "linux" ? PLACES.find((key) => existsSync(key)) : undefined;
  if (program === undefined) return undefined;
  const shown = (path: string, at = path) => (existsSync(path) ? ["--ro-bind", realpathSync(path), at] : []);
  const parameters = [
    ...["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...SYSTEM.flatMap((path) => shown(path)),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...shown(command),
    ...OWN.flatMap((name) => shown(join(root, name))),
    ...["--chdir", "/", "--"],
  ];
  const { status } = spawnSync(program, [...parameters, command, "--version"], {
    env: {},
    cwd: "/",
    stdio: "ignore",
    timeout: TRIAL_MS_MAX,
  });
  return status === 0 ? [program, ...parameters] : undefined;
}

export class WrapperChoice {
  readonly #find: () => Wrapper | undefined;
  readonly #monotonicMs: () => number;
  #wrapper: Wrapper | undefined;
  #failures = 0;
  /** When it is looked for, at the first start and again where none was found or it was given up. */
  #checkAtMs = Number.NEGATIVE_INFINITY;

  constructor(find: () => Wrapper | undefined, monotonicMs: () => number) {
    this.#find = find;
    this.#monotonicMs = monotonicMs;
  }

  /** For the process that starts now; undefined for none. */
  next(): Wrapper | undefined {
    const nowMs = this.#monotonicMs();
    if (this.#wrapper === undefined && nowMs >= this.#checkAtMs) {
      this.#wrapper = this.#find();
      this.#failures = 0;
      this.#checkAtMs = nowMs + SANDBOX_WRAPPER_CHECK_MS;
    }
    return this.#wrapper;
  }

  /** A process has started. */
  started(wrapper: Wrapper | undefined): void {
    if (wrapper !== undefined) this.#failures = 0;
  }

  /** A process has not. */
  failed(wrapper: Wrapper | undefined): void {
    if (wrapper === undefined || wrapper !== this.#wrapper || ++this.#failures < SANDBOX_WRAPPER_FAILURES_MAX) return;
    this.#wrapper = undefined;
    this.#checkAtMs = this.#monotonicMs() + SANDBOX_WRAPPER_CHECK_MS;
  }
}
