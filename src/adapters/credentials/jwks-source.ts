// The keys of an identity provider: loaded at the start, again every refreshMs, and once more when a token names a key that is not among them, though not within
// cooldownMs of the last time. A set that cannot be had or read leaves the last good one in force.
import { createLocalJWKSet, type LocalJWKSet } from "jose";
import { background, every, task } from "../../core/faults/guard.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { readJwks } from "./jwks-content.ts";

const RELOAD = task("the keys of the identity provider");

export interface JwksOptions {
  /** As the log and the status show it: no credentials. */
  readonly name: string;
  readonly refreshMs: number;
  readonly cooldownMs: number;
}

export interface JwksDependencies {
  /** Reads the text of the set; rejects with an Error whose message may be logged. */
  read(): Promise<string>;
  monotonicMs(): number;
  wallMs(): number;
  log(level: "info" | "warn", line: string): void;
  /** Other keys count from now on. */
  onChange(): void;
}

/** State of the keys in the status. */
export interface JwksState {
  readonly source: string;
  readonly keys: number;
  /** Wall time of the last good load, null before the first. */
  readonly loadedMs: number | null;
  /** Why the last load failed, null when it did not. */
  readonly failure: string | null;
}

/** One source of keys. */
export class JwksSource {
  readonly #options: JwksOptions;
  readonly #dependencies: JwksDependencies;
  #text: string | undefined;
  #keys: LocalJWKSet | undefined;
  #count = 0;
  #loadedMs: number | null = null;
  #failure: string | null = null;
  #lastLoadMs = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: JwksOptions, dependencies: JwksDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  get state(): JwksState {
    return { source: this.#options.name, keys: this.#count, loadedMs: this.#loadedMs, failure: this.#failure };
  }

  /** Loads the set and keeps it fresh. */
  start(): void {
    background(RELOAD, this.load());
    this.#timer = every(this.#options.refreshMs, RELOAD, () => this.load());
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The keys in force; undefined where none could be had yet. Waits for a load only while there are none. */
  async keys(): Promise<LocalJWKSet | undefined> {
    if (this.#keys === undefined) await (this.#loading ?? this.#loadUnlessRecent());
    return this.#keys;
  }

  /** Looks for keys that came since, unless that was done a moment ago; true where the keys are others than before. */
  async refresh(): Promise<boolean> {
    const before = this.#keys;
    await (this.#loading ?? this.#loadUnlessRecent());
    return this.#keys !== before;
  }

  /** Loads now, together with whoever loads already; never rejects. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  #loadUnlessRecent(): Promise<void> {
    const isRecent = this.#dependencies.monotonicMs() - this.#lastLoadMs < this.#options.cooldownMs;
    return isRecent ? Promise.resolve() : this.load();
  }

  async #load(): Promise<void> {
    this.#lastLoadMs = this.#dependencies.monotonicMs();
    try {
      this.#take(await this.#dependencies.read());
    } catch (error) {
      this.#fail(messageOf(error));
    }
  }

  #take(text: string): void {
    if (text !== this.#text) {
      const read = readJwks(text);
      if (!read.ok) return this.#fail(read.message);
      this.#keys = createLocalJWKSet(read.set);
      this.#text = text;
      this.#count = read.set.keys.length;
      const ignored = read.ignored === 0 ? "" : `, ${read.ignored} others are of no use here`;
      this.#dependencies.log("info", `${this.#options.name}: ${this.#count} keys${ignored}`);
      this.#dependencies.onChange();
    } else if (this.#failure !== null) this.#dependencies.log("info", `${this.#options.name}: can be read again`);
    this.#failure = null;
    this.#loadedMs = this.#dependencies.wallMs();
  }

  #fail(message: string): void {
    const retained =
      this.#keys === undefined ? "no token of its keys can be checked" : `the ${this.#count} keys loaded before stay in force`;
    if (message !== this.#failure) this.#dependencies.log("warn", `${this.#options.name}: ${message}; ${retained}`);
    this.#failure = message;
  }
}
