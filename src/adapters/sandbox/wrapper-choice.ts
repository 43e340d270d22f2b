// Whether the next sandbox process starts in a wrapper. A machine may be short of something for a moment: a wrapper is given up after several starts in a row have
// failed in it, and looked for again a while later.
import { SANDBOX_WRAPPER_FAILURES_MAX, SANDBOX_WRAPPER_LOOK_MS } from "../../core/config/sandbox-limits.ts";
import type { Wrapper } from "./bubblewrap.ts";

export class WrapperChoice {
  readonly #find: () => Wrapper | undefined;
  readonly #monotonicMs: () => number;
  #wrapper: Wrapper | undefined;
  #failures = 0;
  /** When it is looked for, at the first start and again where none was found or it was given up. */
  #lookAtMs = Number.NEGATIVE_INFINITY;

  constructor(find: () => Wrapper | undefined, monotonicMs: () => number) {
    this.#find = find;
    this.#monotonicMs = monotonicMs;
  }

  /** For the process that starts now; undefined for none. */
  next(): Wrapper | undefined {
    const nowMs = this.#monotonicMs();
    if (this.#wrapper === undefined && nowMs >= this.#lookAtMs) {
      this.#wrapper = this.#find();
      this.#failures = 0;
      this.#lookAtMs = nowMs + SANDBOX_WRAPPER_LOOK_MS;
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
    this.#lookAtMs = this.#monotonicMs() + SANDBOX_WRAPPER_LOOK_MS;
  }
}
