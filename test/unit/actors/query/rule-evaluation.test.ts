import { describe, expect, it } from "vitest";
import type { CallContext } from "../../../../src/actors/query/query-call.ts";
import { evaluatedGroup } from "../../../../src/actors/query/rule-evaluation.ts";
import type { SelectionRequest } from "../../../../src/actors/query/stream-selector.ts";
import { RULE_QUERY_MS_MAX } from "../../../../src/core/config/rule-limits.ts";
import { unpackEvaluation } from "../../../../src/core/protocol/rule-work.ts";
import { QueryBudget } from "../../../../src/domain/promql/query-budget.ts";
import type { RuleGroupDocument } from "../../../../src/domain/rules/file/group-document.ts";
import { queryRig } from "../../../support/rule-queries-rig.ts";

const NOW_MS = Date.UTC(2026, 0, 31, 12);
const MINUTE_MS = 60_000;
const STREAMS_BYTES = 200 * 2 ** 20;
type Rules = RuleGroupDocument["rules"];

/** Evaluations of one group after another, each over the state that the one before has left. */
class World {
  nowMs = 0;
  /** Names of metrics whose streams take much memory, and whose selection takes too much time. */
  readonly large = new Set<string>();
  readonly slow = new Set<string>();
  readonly selected: string[] = [];
  readonly #context: CallContext;
  #state: Uint8Array | null = null;

  constructor() {
    const series = ["a", "b", "c"].map((name) => ({ labels: { __name__: name, job: name }, values: [1, 1, 1] }));
    const { context } = queryRig(series, NOW_MS - 2 * MINUTE_MS, MINUTE_MS, () => this.nowMs);
    const select = async (request: SelectionRequest) => {
      for (const matchers of request.selections) this.#take(matchers[0]?.value ?? "", request.budget);
      return context.selector.select(request);
    };
    this.#context = { ...context, selector: { select } as unknown as CallContext["selector"] };
  }

  async evaluate(rules: Rules, more: { readonly restores?: boolean; readonly budget?: QueryBudget } = {}) {
    const { restores = false, budget = new QueryBudget(() => this.nowMs) } = more;
    const document = JSON.stringify({ name: "group", rules });
    const work = { kind: "evaluate", document, state: this.#state, timeMs: NOW_MS, externalUrl: "", isNew: false } as const;
    const parts = unpackEvaluation(await evaluatedGroup({ ...this.#context, budget }, { ...work, restores, sendsAll: true }));
    this.#state = parts.state;
    return parts.group.rules.map(({ lastError }) => lastError);
  }

  #take(name: string, budget: QueryBudget): void {
    this.selected.push(name);
    if (this.slow.has(name)) this.nowMs += RULE_QUERY_MS_MAX + 1;
    budget.check();
    if (this.large.has(name)) budget.reserve(STREAMS_BYTES);
  }
}

const alertOf = (name: string, expr = name) => ({ alert: name, expr });

describe("an evaluation of a group", () => {
  it("frees the memory of each rule for the next", async () => {
    const world = new World();
    world.large.add("a").add("b");
    expect(await world.evaluate([alertOf("a"), alertOf("b"), alertOf("c")])).toEqual([null, null, null]);
    expect(await world.evaluate([alertOf("ab", "a + on() b"), alertOf("c")])).toEqual([expect.stringContaining("too much memory"), null]);
  });

  it("tries a rule that takes too long less and less often, until it is another or ends in time", async () => {
    const world = new World();
    world.slow.add("a");
    const tries = async (evaluations: number, expr = "a") => {
      const errors: Array<string | null> = [];
      world.selected.length = 0;
      for (let at = 0; at < evaluations; at++) errors.push(...(await world.evaluate([alertOf("slow", expr), alertOf("c")])));
      expect(errors.filter((_, at) => at % 2 === 1)).toEqual(Array(evaluations).fill(null));
      // Once for all rules together, once for it alone.
      return [world.selected.filter((name) => name === "a").length / 2, errors.at(-2)];
    };
    expect(await tries(1)).toEqual([1, "query timed out in expression evaluation: more than 10 s; it is tried with one evaluation of 2"]);
    expect(await tries(2)).toEqual([1, expect.stringContaining("one evaluation of 4")]);
    expect(await tries(4)).toEqual([1, expect.stringContaining("one evaluation of 8")]);
    expect(await tries(16)).toEqual([2, expect.stringContaining("one evaluation of 8")]);
    expect(await tries(1, "a > 0")).toEqual([1, expect.stringContaining("one evaluation of 2")]);
    world.slow.clear();
    expect((await tries(1, "a > 0"))[0]).toBe(0);
    expect((await tries(1, "a > 0"))[1]).toBeNull();
  });

  it("says of rules for which the group's time is over that they are not evaluated, and evaluates them with the next", async () => {
    const world = new World();
    const over = new QueryBudget(() => world.nowMs, { durationMsMax: -1 });
    const rules = [alertOf("a"), alertOf("c")];
    expect(await world.evaluate(rules, { budget: over })).toEqual(Array(2).fill(expect.stringMatching(/^not evaluated: /)));
    expect(await world.evaluate(rules)).toEqual([null, null]);
  });

  it("goes on where `for` cannot be restored", async () => {
    const world = new World();
    world.slow.add("ALERTS_FOR_STATE");
    const rules = [{ ...alertOf("a"), for: "1h" }, alertOf("c")];
    expect(await world.evaluate(rules, { restores: true })).toEqual(Array(2).fill(expect.stringMatching(/^"for" is not restored: /)));
    expect(await world.evaluate(rules, { restores: true })).toEqual([null, null]);
  });
});
