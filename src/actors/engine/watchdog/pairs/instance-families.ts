// Which pairs of an engine are instances of one, and whose baseline a new one inherits.

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
  /** Pairs with their instances, by the family's text, hashed. */
  readonly #members = new Map<string, Map<number, string>>();
  readonly #families = new Map<number, string>();

  constructor(arena: PairArena, detector: PairDetector) {
    this.#arena = arena;
    this.#detector = detector;
  }

  /** Enters a pair that is there already. */
  enter(pair: number, name: StreamName): void {
    const text = familyText(name);
    if (text === null) return;
    const family = hash128(text);
    const members = this.#members.get(family) ?? new Map<number, string>();
    this.#members.set(family, members.set(pair, instanceOf(name.attributes) as string));
    this.#families.set(pair, family);
  }

  /** The pair whose baseline one that was entered inherits, whose newest value came at `atMs`; 0 for none. Loads states into the detector. */
  ancestorOf(pair: number, atMs: number, isLike: (other: number) => boolean): number {
    const family = this.#families.get(pair);
    if (family === undefined) return 0;
    const inheritance = new Inheritance<PairAncestor>(atMs);
    for (const [member, instance] of this.#members.get(family) ?? []) {
      const lastMs = this.#arena.lastTimeMs(member);
      if (member === pair || !inheritance.admits(this.#arena.count(member), lastMs) || !isLike(member)) continue;
      this.#arena.load(member);
      const { isAtRest, baseline } = this.#detector;
      inheritance.offer({ pair: member, instance, lastMs, isAtRest, baseline });
    }
    return inheritance.chosen?.pair ?? 0;
  }

  leave(pair: number): void {
    const family = this.#families.get(pair);
    if (family === undefined) return;
    this.#families.delete(pair);
    const members = this.#members.get(family);
    members?.delete(pair);
    if (members?.size === 0) this.#members.delete(family);
  }
}
