// Which pairs of an engine are instances of one, and whose baseline a new one inherits. Kept in arrays: there are hundreds of thousands of pairs.
import { FIRST_LENGTH, longEnough } from "../../../../core/collections/growing-arrays.ts";
import { hash128 } from "../../../../core/hashing/hash128.ts";
import type { StreamName } from "../../../../core/protocol/coordinator-frame.ts";
import { type Ancestor, familyText, Inheritance } from "../../../../domain/detection/pair/instance-family.ts";
import type { PairArena } from "../../../../domain/detection/pair/pair-arena.ts";
import type { PairDetector } from "../../../../domain/detection/pair/pair-detector.ts";
import { instanceOf } from "../../../../domain/series/instance-name.ts";

interface PairAncestor extends Ancestor {
  readonly pair: number;
}

export class InstanceFamilies {
  readonly #arena: PairArena;
  /** That states of the arena are loaded into. */
  readonly #detector: PairDetector;
  /** By family, its text hashed, the pair that entered it last. The others follow in a chain. */
  readonly #newest = new Map<string, number>();
  /** All by pair: its family, "" for none, its neighbours in the chain, 0 for none, and the name of its instance. */
  readonly #families: string[] = [];
  #next = new Uint32Array(FIRST_LENGTH);
  #former = new Uint32Array(FIRST_LENGTH);
  readonly #instances: string[] = [];

  constructor(arena: PairArena, detector: PairDetector) {
    this.#arena = arena;
    this.#detector = detector;
  }

  /** Enters a pair that is there already. */
  enter(pair: number, name: StreamName): void {
    const text = familyText(name);
    if (text === null) return;
    const family = hash128(text);
    this.#next = longEnough(this.#next, pair);
    this.#former = longEnough(this.#former, pair);
    const newest = this.#newest.get(family) ?? 0;
    this.#newest.set(family, pair);
    this.#families[pair] = family;
    this.#next[pair] = newest;
    this.#former[pair] = 0;
    if (newest !== 0) this.#former[newest] = pair;
    this.#instances[pair] = instanceOf(name.attributes) as string;
  }

  /** The pair whose baseline one that was entered inherits, whose newest value came at `atMs`; 0 for none. Loads states into the detector. */
  ancestorOf(pair: number, atMs: number, isLike: (other: number) => boolean): number {
    const family = this.#families[pair] ?? "";
    const newest = this.#newest.get(family) ?? 0;
    if (family === "" || (newest === pair && this.#next[pair] === 0)) return 0;
    const inheritance = new Inheritance<PairAncestor>(atMs);
    for (let member = newest; member !== 0; member = this.#next[member] as number) {
      const lastMs = this.#arena.lastTimeMs(member);
      if (member === pair || !inheritance.admits(this.#arena.count(member), lastMs) || !isLike(member)) continue;
      this.#arena.load(member);
      const { isAtRest, baseline } = this.#detector;
      const instance = this.#instances[member] as string;
      inheritance.offer({ pair: member, instance, lastMs, isAtRest, baseline });
    }
    return inheritance.chosen?.pair ?? 0;
  }

  leave(pair: number): void {
    const family = this.#families[pair] ?? "";
    if (family === "") return;
    const next = this.#next[pair] as number;
    const former = this.#former[pair] as number;
    this.#families[pair] = "";
    this.#instances[pair] = "";
    if (next !== 0) this.#former[next] = former;
    if (former !== 0) this.#next[former] = next;
    else if (next !== 0) this.#newest.set(family, next);
    else this.#newest.delete(family);
  }
}
