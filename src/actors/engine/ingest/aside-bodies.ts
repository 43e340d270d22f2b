// Bodies of one engine that take more than a unit of work and are overtaken by others meanwhile: they go on a unit at a time, tenants in turns. A body of the ring
// takes its bytes along, and what the kernel had of it is brought back when its turn comes; a large one lies in its own place.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { ASIDE_BYTES_MAX, BODIES_ASIDE_MAX } from "../../../core/config/body-limits.ts";
import { BODY_PADDING_BYTES, WORK_BODY } from "../../../core/layout/memory-map.ts";
import { type Body, isLarge } from "../unit/body.ts";
import type { BodyDecoder, UnitDecoder } from "../unit/body-decoder.ts";
import { type RetainedPosition, RetainedPositions } from "../unit/retained-positions.ts";
import type { Debt } from "../unit/unit-debts.ts";

/** A body whose decoding has begun. */
export interface BegunBody {
  body: Body;
  readonly decoder: UnitDecoder;
  /** The same, where others may overtake it. */
  readonly overtaken: BodyDecoder | undefined;
  /** Time that its rows count from. */
  readonly baseMs: number;
  /** The front has been told that it is answered later, in its block of the log. */
  isAnnounced: boolean;
  /** What the units before owe of it. */
  debt: Debt | undefined;
}

/** One that waits. */
interface AsideBody {
  readonly begun: BegunBody;
  readonly decoder: BodyDecoder;
  readonly places: RetainedPositions;
}

/** Those of one engine. */
export class AsideBodies {
  readonly #memory: EngineMemory;
  /** By tenant, the one whose turn is next first; of each the one that was set aside first goes on. */
  readonly #tenants = new Map<number, AsideBody[]>();
  readonly #places = new Map<BegunBody, RetainedPositions>();

  constructor(memory: EngineMemory) {
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return this.#tenants.size === 0;
  }

  /** Sets a body aside; false when there is no room, for any or for its tenant, which has half of it at most. */
  add(begun: BegunBody, decoder: BodyDecoder): boolean {
    const { body } = begun;
    const known = this.#places.get(begun);
    const places = known ?? new RetainedPositions(this.#memory);
    const own: RetainedPosition[] = [];
    if (!isLarge(body) && !decoder.takesCopy) {
      own.push({ pointer: body.pointer, bytes: body.bytes + BODY_PADDING_BYTES, isConstant: true, to: WORK_BODY });
    }
    places.keep([...own, ...decoder.keep(body)]);
    if (known === undefined && !isLarge(body) && !this.#hasCapacity(body.tenant, places.bytes)) return false;
    this.#places.set(begun, places);
    const waiting = this.#tenants.get(body.tenant) ?? [];
    if (known === undefined) waiting.push({ begun, decoder, places });
    else waiting.unshift({ begun, decoder, places });
    this.#tenants.set(body.tenant, waiting);
    return true;
  }

  #hasCapacity(tenant: number, bytes: number): boolean {
    let [count, all, own, ownBytes] = [1, bytes, 1, bytes];
    for (const { begun, places } of [...this.#tenants.values()].flat()) {
      if (isLarge(begun.body)) continue;
      count++;
      all += places.bytes;
      if (begun.body.tenant !== tenant) continue;
      own++;
      ownBytes += places.bytes;
    }
    return count <= BODIES_ASIDE_MAX && all <= ASIDE_BYTES_MAX && own <= BODIES_ASIDE_MAX / 2 && ownBytes <= ASIDE_BYTES_MAX / 2;
  }

  /** The body whose turn it is, ready to go on; it waits no longer, and its tenant has its next turn behind all others. */
  take(): BegunBody | undefined {
    const first = this.#tenants.entries().next();
    if (first.done === true) return undefined;
    const [tenant, [next, ...rest]] = first.value;
    this.#tenants.delete(tenant);
    if (rest.length > 0) this.#tenants.set(tenant, rest);
    const { begun, decoder, places } = next as AsideBody;
    places.restore();
    const { body } = begun;
    const moved = isLarge(body) || decoder.takesCopy ? 0 : WORK_BODY - body.pointer;
    if (moved !== 0) begun.body = { ...body, pointer: WORK_BODY };
    decoder.goOn(moved);
    return begun;
  }

  /** The body is done. */
  end(begun: BegunBody): void {
    this.#places.delete(begun);
  }

  /** Gives up all that wait. */
  drop(): readonly BegunBody[] {
    const dropped = [...this.#tenants.values()].flat().map(({ begun }) => begun);
    this.#tenants.clear();
    for (const begun of dropped) this.#places.delete(begun);
    return dropped;
  }
}
