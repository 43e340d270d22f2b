// Bodies that are not done within a unit of work and let others overtake them: what they are decoded with, and whose turn is next. Tenants take turns, and of
// each the body that was set aside first goes on, so one that sends many such bodies delays those of another by a unit.
import { BODIES_ASIDE_MAX } from "../../../core/config/limits.ts";
import type { Body } from "../unit/body.ts";
import type { BodyDecoders } from "./lane-decoders.ts";

/** One of them. */
export interface AsideBody {
  readonly body: Body;
  /** What its rows count from. */
  readonly baseMs: number;
  readonly decoders: BodyDecoders;
}

/** Those of one lane. */
export class BodiesAside {
  /** By tenant; the one whose turn is next comes first. */
  readonly #tenants = new Map<number, AsideBody[]>();
  readonly #make: () => BodyDecoders;
  readonly #spare: BodyDecoders[] = [];
  #size = 0;

  constructor(make: () => BodyDecoders) {
    this.#make = make;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether there is room for one more of a tenant's: all of them have half of the room at most. */
  hasRoom(tenant: number): boolean {
    const own = this.#tenants.get(tenant)?.length ?? 0;
    return this.#size < BODIES_ASIDE_MAX && own < BODIES_ASIDE_MAX / 2;
  }

  /** Decoders that no body has. */
  takeDecoders(): BodyDecoders {
    return this.#spare.pop() ?? this.#make();
  }

  add(aside: AsideBody): void {
    const { tenant } = aside.body;
    const own = this.#tenants.get(tenant);
    if (own === undefined) this.#tenants.set(tenant, [aside]);
    else own.push(aside);
    this.#size++;
  }

  /** The one whose turn it is; its tenant has its next turn behind all others. */
  next(): AsideBody | undefined {
    for (const [tenant, own] of this.#tenants) {
      this.#tenants.delete(tenant);
      this.#tenants.set(tenant, own);
      return own[0];
    }
    return undefined;
  }

  /** Takes out one that is done. */
  remove(aside: AsideBody): void {
    this.drop(aside);
    this.#spare.push(aside.decoders);
  }

  /** Takes out one that has not come to its end, nor have its decoders. */
  drop(aside: AsideBody): void {
    const { tenant } = aside.body;
    const own = this.#tenants.get(tenant) ?? [];
    const at = own.indexOf(aside);
    if (at < 0) throw new Error("a body is not aside");
    own.splice(at, 1);
    if (own.length === 0) this.#tenants.delete(tenant);
    this.#size--;
  }
}
