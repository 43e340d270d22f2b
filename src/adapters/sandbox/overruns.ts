// Overruns of programs: one that overran its limits three times in ten minutes is suspended until the first of them is ten minutes old.

import { createHash } from "node:crypto";
import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { TRANSFORM_KILLS_MAX, TRANSFORM_KILLS_PERIOD_MS, TRANSFORM_PENALTIES_MAX } from "../../core/config/sandbox-limits.ts";
import type { Request } from "./frames.ts";

export class Overruns {
  readonly #momentsMs = new BoundedMap<string, readonly number[]>(TRANSFORM_PENALTIES_MAX);

  /** When a program that is suspended may run again; undefined where it may now. */
  suspendedUntilMs(key: string, nowMs: number): number | undefined {
    const [first, ...others] = this.#within(key, nowMs);
    return first !== undefined && others.length + 1 >= TRANSFORM_KILLS_MAX ? first + TRANSFORM_KILLS_PERIOD_MS : undefined;
  }

  add(key: string, nowMs: number): void {
    this.#momentsMs.set(key, [...this.#within(key, nowMs), nowMs]);
  }

  #within(key: string, nowMs: number): readonly number[] {
    return (this.#momentsMs.get(key) ?? []).filter((momentMs) => momentMs > nowMs - TRANSFORM_KILLS_PERIOD_MS);
  }
}

/** Key of a tenant's program. */
export function programKey(tenant: string, { language, program }: Pick<Request, "language" | "program">): string {
  return createHash("sha256")
    .update(JSON.stringify([tenant, language, program]))
    .digest("base64");
}
