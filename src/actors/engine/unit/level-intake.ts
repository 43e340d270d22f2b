// Takes levels that people take for the usual ones into a unit: a message for the shard of each pair, logged with the samples that it stands between.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { SECTION_ACCEPTED_LEVELS } from "../../../core/layout/row-frame.ts";
import type { AcceptedPairs } from "../../../core/protocol/accepted-level.ts";
import { partitionOf } from "../../../domain/placement/partition.ts";
import type { Body } from "./body.ts";
import type { BodyAnswer, WorkUnit } from "./work-unit.ts";

export interface LevelIntakeDependencies {
  readonly memory: EngineMemory;
  readonly tenantName: (index: number) => string;
}

/** Decodes bodies of BODY_ACCEPTED_LEVELS for one engine. */
export class LevelIntake {
  readonly #dependencies: LevelIntakeDependencies;

  constructor(dependencies: LevelIntakeDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes a whole body into the unit. Throws on one that the coordinator cannot have sent. */
  decode({ pointer, bytes, tenant: index }: Body, unit: WorkUnit): BodyAnswer {
    const { memory, tenantName } = this.#dependencies;
    const { pairs } = JSON.parse(memory.slice(pointer, bytes).toString("utf8")) as AcceptedPairs;
    const tenant = tenantName(index);
    for (const pair of pairs) {
      unit.addMessage(SECTION_ACCEPTED_LEVELS, partitionOf(tenant, pair.serviceId), Buffer.from(JSON.stringify({ tenant, ...pair })));
    }
    return { status: 200, body: null };
  }
}
