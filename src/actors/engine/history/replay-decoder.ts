// Takes dead letters in after all: each is judged by when it first came. Their rows and records, and the word that they have ended, are one block of the
// log: after a crash both are there or neither. A letter that is refused again stays where it is.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { REPLAY_HISTORY_LEAD_MS } from "../../../core/config/limits.ts";
import { BODY_REPLAY_HISTORY } from "../../../core/protocol/body-kind.ts";
import type { ReplayOutcome } from "../../../core/protocol/query.ts";
import { recordOfDeadLetter } from "../../../domain/series/dead-letter-record.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { isRefusal, judgeRecord } from "../../../domain/series/telemetry-record.ts";
import type { JsonDecoder } from "../json/json-decoder.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { Body } from "../unit/body.ts";
import type { BodyAnswer, WorkUnit } from "../unit/work-unit.ts";

export interface ReplayDecoderDependencies {
  readonly memory: EngineMemory;
  readonly json: JsonDecoder;
  readonly counters: EngineCounters;
  readonly exclusions: FieldExclusions;
  readonly tenantName: (index: number) => string;
}

/** Message of the coordinator. */
interface ReplayBody {
  readonly job: string;
  readonly letters: ReadonlyArray<readonly [receivedMs: number, id: string, payload: unknown]>;
}

/** Decodes batches of a replay for one engine. */
export class ReplayDecoder {
  readonly #dependencies: ReplayDecoderDependencies;

  constructor(dependencies: ReplayDecoderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes a whole batch into the unit; the answer is a ReplayOutcome. Throws on a body that the coordinator cannot have sent. */
  decode(body: Body, unit: WorkUnit): BodyAnswer {
    const { memory, tenantName } = this.#dependencies;
    if (body.kind === BODY_REPLAY_HISTORY) unit.becomeHistory(body.wallMs - REPLAY_HISTORY_LEAD_MS);
    const { job, letters } = JSON.parse(memory.slice(body.pointer, body.bytes).toString("utf8")) as ReplayBody;
    const ended: Array<readonly [number, string]> = [];
    const failures: Array<{ index: number; reason: string }> = [];
    letters.forEach(([receivedMs, id, payload], index) => {
      const reason = this.#take(payload, receivedMs, index, body, unit);
      if (reason === undefined) ended.push([receivedMs, id]);
      else failures.push({ index, reason });
    });
    if (ended.length > 0) unit.endDeadLetters({ ended: { tenant: tenantName(body.tenant), job, letters: ended } });
    const outcome: ReplayOutcome = { replayed: ended.length, failures };
    return { status: 200, body: JSON.stringify(outcome) };
  }

  /** Why the record is refused, or undefined. */
  #take(payload: unknown, receivedMs: number, index: number, body: Body, unit: WorkUnit): string | undefined {
    const { json, counters, exclusions, tenantName } = this.#dependencies;
    const judged = judgeRecord(exclusions.strip(recordOfDeadLetter(payload)), receivedMs);
    if (isRefusal(judged)) return judged.reason;
    if (judged.timeMs < unit.baseMs) return "timestamp_too_old";
    const refusal = json.store(judged, index, { ...body, wallMs: receivedMs, idempotencyKey: "" }, unit);
    if (refusal !== undefined) return refusal.reason;
    counters.accepted(judged.type, 1);
    unit.accept(tenantName(body.tenant), body.wallMs, judged.type, 1);
    return undefined;
  }
}
