// The windows of one service that are not closed: what came for them, and the ids of it, so that a repeat changes nothing.
import { IdSet } from "../../core/base/id-set.ts";
import type { WordPool } from "../../core/base/word-pool.ts";
import { ClosedWindows } from "./closed-windows.ts";

/** Keys of windows by closing and window: the closing is at most 9,000 behind the window. */
const KEY_SPREAD = 2 ** 34;
/** Windows this far before the newest closing can get nothing more: 25 hours. */
const REACH = 9_000;

/** One window on its way to its closing. */
export interface OpenWindow<T> {
  readonly window: number;
  readonly closing: number;
  readonly ids: IdSet;
  readonly content: T;
}

/** Windows of one service. */
export class OpenWindows<T> {
  readonly #pool: WordPool;
  readonly #content: () => T;
  readonly #open = new Map<number, OpenWindow<T>>();
  #last: OpenWindow<T> | undefined;
  closed = new ClosedWindows();
  /** The newest closing that has been done. */
  closedUpTo = 0;

  /** Ids lie in memory of `pool`. */
  constructor(pool: WordPool, content: () => T) {
    this.#pool = pool;
    this.#content = content;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The window that takes what came for a closing, made at first; undefined when the window has been closed before. */
  take(window: number, closing: number): OpenWindow<T> | undefined {
    const wanted = Math.max(closing, this.closedUpTo + 1);
    const last = this.#last;
    if (last !== undefined && last.window === window && last.closing === wanted) return last;
    const key = (wanted - window) * KEY_SPREAD + window;
    let open = this.#open.get(key);
    if (open === undefined) {
      if (this.closed.has(window)) return undefined;
      open = { window, closing: wanted, ids: new IdSet(this.#pool), content: this.#content() };
      this.#open.set(key, open);
    }
    this.#last = open;
    return open;
  }

  /** The ids of the window that took something last. */
  get lastIds(): IdSet | undefined {
    return this.#last?.ids;
  }

  /** The first closing that has something to close; Infinity for none. */
  get nextClosing(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { closing } of this.#open.values()) next = Math.min(next, closing);
    return next;
  }

  /** Ends what is due up to a closing, in the order of closings and windows. `isLate` where the window was closed before: its values stand. */
  close(upTo: number): Array<{ readonly open: OpenWindow<T>; readonly isLate: boolean }> {
    const due = [...this.#open].filter(([, { closing }]) => closing <= upTo);
    if (due.length === 0) return [];
    this.#last = undefined;
    this.closedUpTo = Math.max(this.closedUpTo, upTo);
    for (const [key] of due) this.#open.delete(key);
    const ended = due
      .map(([, open]) => open)
      .sort((a, b) => a.closing - b.closing || a.window - b.window)
      .map((open) => {
        const isLate = this.closed.has(open.window);
        this.closed.add(open.window);
        return { open, isLate };
      });
    this.closed.forgetBefore(upTo - REACH);
    return ended;
  }

  values(): Iterable<OpenWindow<T>> {
    return this.#open.values();
  }
}
