// The query workers as the coordinator has them work for rules: one message there, one back.
import { Requests } from "../../adapters/threads/requests.ts";
import { RULE_WORK_MS_MAX } from "../../core/config/rule-limits.ts";
import {
  type EvaluateRules,
  type EvaluationParts,
  type ReadRulesResult,
  type RuleWork,
  type RuleWorkDone,
  type RuleWorkWanted,
  type TriedGroup,
  type TryRules,
  unpackEvaluation,
} from "../../core/protocol/rule-work.ts";

export interface RuleWorkersDependencies {
  emit(message: RuleWorkWanted): void;
}

/** Work that was not done: too many wait, it took too much, or its thread ended. */
export class RuleWorkError extends Error {
  override readonly name = "RuleWorkError";
}

/** Hands out work and waits for it. */
export class RuleWorkers {
  readonly #dependencies: RuleWorkersDependencies;
  readonly #requests = new Requests<RuleWorkDone>();

  constructor(dependencies: RuleWorkersDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes what a worker has done. */
  take(done: RuleWorkDone): void {
    this.#requests.settle(done);
  }

  /** Reads a file of rules. Rejects with RuleWorkError. */
  async read(tenant: string, text: string): Promise<ReadRulesResult> {
    return JSON.parse(textOf(await this.#run(tenant, { kind: "read", text }))) as ReadRulesResult;
  }

  /** Evaluates a group. Rejects with RuleWorkError. */
  async evaluate(tenant: string, work: Omit<EvaluateRules, "kind">): Promise<EvaluationParts> {
    return unpackEvaluation((await this.#run(tenant, { kind: "evaluate", ...work })) as Uint8Array);
  }

  /** Tries a group over the past. Rejects with RuleWorkError. */
  async tried(tenant: string, work: Omit<TryRules, "kind">): Promise<TriedGroup> {
    return JSON.parse(textOf(await this.#run(tenant, { kind: "try", ...work }))) as TriedGroup;
  }

  async #run(tenant: string, work: RuleWork): Promise<string | Uint8Array> {
    const { emit } = this.#dependencies;
    const done = await this.#requests.ask(RULE_WORK_MS_MAX, (id) => emit({ type: "rule-work", id, tenant, work }));
    if (done === undefined) throw new RuleWorkError(`no query worker has answered within ${RULE_WORK_MS_MAX / 1_000} s`);
    if (done.status >= 300) throw new RuleWorkError(reasonOf(done.body));
    return done.body;
  }
}

function textOf(body: string | Uint8Array): string {
  return typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}

/** Refusals have the form of PromQL's API. */
function reasonOf(body: string | Uint8Array): string {
  return (JSON.parse(textOf(body)) as { readonly error: string }).error;
}
