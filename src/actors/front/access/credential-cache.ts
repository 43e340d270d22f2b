// Credentials that were found genuine, by their SHA-256: a request with one of them costs one look-up. Two maps stand in for an order of use: what is found in
// the older one moves to the newer, and when that is full it becomes the older one. So a hit in the newer writes nothing, and what is used stays.
import { CREDENTIALS_CACHED_MAX } from "../../../core/config/limits.ts";
import type { Principal } from "../../../core/protocol/query.ts";

/** A genuine credential. */
export interface KnownCredential {
  readonly kind: "known";
  readonly principal: Principal;
  /** Wall time from which on it is nothing any more. */
  readonly validUntilMs: number;
  /** The same without what clocks may differ by: what it opened ends then. */
  readonly expiresMs: number;
  /** It was checked with the keys of tokens, so it goes when those change. */
  readonly isToken: boolean;
}

/** At most CREDENTIALS_CACHED_MAX credentials. */
export class CredentialCache {
  readonly #generationMax: number;
  #newer = new Map<string, KnownCredential>();
  #older = new Map<string, KnownCredential>();

  constructor(most: number = CREDENTIALS_CACHED_MAX) {
    this.#generationMax = Math.ceil(most / 2);
  }

  get size(): number {
    return this.#newer.size + this.#older.size;
  }

  find(name: string): KnownCredential | undefined {
    const found = this.#newer.get(name);
    if (found !== undefined) return found;
    const old = this.#older.get(name);
    if (old === undefined) return undefined;
    this.#older.delete(name);
    this.put(name, old);
    return old;
  }

  put(name: string, credential: KnownCredential): void {
    if (this.#newer.size >= this.#generationMax) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(name, credential);
  }

  remove(name: string): void {
    this.#newer.delete(name);
    this.#older.delete(name);
  }

  /** Forgets all that `concerns` says; 10,000 are looked at in about 0.2 ms. */
  forget(concerns: (credential: KnownCredential) => boolean): void {
    for (const map of [this.#newer, this.#older]) {
      for (const [name, credential] of map) if (concerns(credential)) map.delete(name);
    }
  }
}
