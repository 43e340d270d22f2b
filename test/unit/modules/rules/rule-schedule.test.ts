import { describe, expect, it } from "vitest";
import { RULE_EVALUATIONS_UNDER_WAY_MAX, RULE_EVALUATIONS_UNDER_WAY_SHARE } from "../../../../src/core/config/rule-limits.ts";
import type { EvaluateRules, EvaluationParts } from "../../../../src/core/protocol/rule-work.ts";
import { RuleAlertBook } from "../../../../src/modules/rules/rule-alert-book.ts";
import { RuleBook } from "../../../../src/modules/rules/rule-book.ts";
import type { RuleGroupEntry } from "../../../../src/modules/rules/rule-group-row.ts";
import { groupIdOf } from "../../../../src/modules/rules/rule-group-row.ts";
import { RuleSchedule } from "../../../../src/modules/rules/rule-schedule.ts";
import { RuleWorkError } from "../../../../src/modules/rules/rule-workers.ts";
import { settled } from "../../../support/rules-rig.ts";

const START_MS = Date.UTC(2026, 0, 31, 12);

function group(name: string, tenant = "default", interval = "10s"): RuleGroupEntry {
  const document = { name, interval, rules: [{ record: "a", expr: "b" }] };
  return { tenant, file: "", document, text: JSON.stringify(document), changedBy: "me", changedMs: START_MS };
}

const DONE: EvaluationParts = {
  group: { seconds: 0.1, rules: [{ lastError: null, seconds: 0.1, pending: 0, firing: 0 }], changes: [], samples: 1 },
  state: Uint8Array.of(1),
  request: Uint8Array.of(2),
};

/** A schedule whose evaluations end when a test says so. */
class World {
  nowMs = START_MS;
  readonly rules = new RuleBook();
  readonly asked: Array<{
    readonly tenant: string;
    readonly work: Omit<EvaluateRules, "kind">;
    end(parts?: EvaluationParts): Promise<void>;
    fail(): Promise<void>;
  }> = [];
  readonly counts: Record<string, number> = {};
  readonly schedule = new RuleSchedule({
    rules: this.rules,
    ruleAlerts: new RuleAlertBook(),
    alerts: { take: async () => undefined, endUnseen: async () => undefined },
    samples: { send: async () => true },
    workers: {
      evaluate: (tenant, work) =>
        new Promise((resolve, reject) => {
          const end = async (parts = DONE) => {
            resolve(parts);
            await settled();
          };
          const fail = async () => {
            reject(new RuleWorkError("too many wait"));
            await settled();
          };
          this.asked.push({ tenant, work, end, fail });
        }),
    },
    counters: {
      add: (name, count) => {
        this.counts[name] = (this.counts[name] ?? 0) + count;
      },
    },
    publicUrl: "",
    nowMs: () => this.nowMs,
    monotonicMs: () => this.nowMs - START_MS,
  });

  /** Lets time go by in steps of a second. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.nowMs += 1_000;
      this.schedule.step();
      await settled();
    }
  }
}

describe("the schedule of rules", () => {
  it("evaluates a group at its own moments, with the state that the evaluation before has left", async () => {
    const world = new World();
    world.rules.put(group("shop"));
    world.schedule.step();
    await world.pass(10);
    expect(world.asked).toHaveLength(1);
    expect(world.asked[0]?.work).toMatchObject({ state: null, restores: false, sendsAll: true });
    await world.asked[0]?.end();
    await world.pass(10);
    const [first, second] = world.asked.map(({ work }) => work);
    expect((second?.timeMs ?? 0) - (first?.timeMs ?? 0)).toBe(10_000);
    expect(second).toMatchObject({ state: Uint8Array.of(1), restores: true, sendsAll: false });
    expect(world.schedule.factsOf(group("shop"))).toMatchObject({ evaluatedMs: first?.timeMs, problem: null, missed: 0 });
  });

  it("gives groups moments of their own", async () => {
    const world = new World();
    for (let i = 0; i < 8; i++) world.rules.put(group(`g${i}`));
    world.schedule.step();
    await world.pass(10);
    expect(new Set(world.asked.map(({ work }) => work.timeMs % 10_000)).size).toBeGreaterThan(4);
  });

  it("skips and counts the moments that go by during an evaluation", async () => {
    const world = new World();
    world.rules.put(group("slow"));
    world.schedule.step();
    await world.pass(35);
    expect(world.asked).toHaveLength(1);
    await world.asked[0]?.end();
    await world.pass(1);
    expect(world.asked).toHaveLength(2);
    expect(world.counts.ruleEvaluationsMissed).toBeGreaterThanOrEqual(1);
    expect(world.schedule.factsOf(group("slow")).missed).toBe(world.counts.ruleEvaluationsMissed);
  });

  it("tells a failure, keeps the state, and goes on", async () => {
    const world = new World();
    world.rules.put(group("shop"));
    world.schedule.step();
    await world.pass(10);
    await world.asked[0]?.end();
    await world.pass(10);
    await world.asked[1]?.fail();
    expect(world.schedule.factsOf(group("shop"))).toMatchObject({ problem: "too many wait", state: Uint8Array.of(1) });
    await world.pass(10);
    expect(world.asked[2]?.work.state).toEqual(Uint8Array.of(1));
    expect(world.counts).toMatchObject({ ruleFailures: 1, ruleEvaluations: 1, ruleSamples: 1 });
  });

  it("goes to the tenant with fewest under way", async () => {
    const world = new World();
    for (let i = 0; i < 3 * RULE_EVALUATIONS_UNDER_WAY_MAX; i++) world.rules.put(group(`g${i}`, "many", "1s"));
    world.schedule.step();
    await world.pass(2);
    expect(world.asked).toHaveLength(RULE_EVALUATIONS_UNDER_WAY_MAX);
    world.rules.put(group("one", "few", "1s"));
    await world.pass(2);
    await world.asked[0]?.end();
    await world.pass(1);
    expect(world.asked.at(-1)?.tenant).toBe("few");
  });

  it("leaves each tenant a share of what is evaluated at once", async () => {
    const world = new World();
    for (let i = 0; i < 3 * RULE_EVALUATIONS_UNDER_WAY_MAX; i++) world.rules.put(group(`g${i}`, "many", "1s"));
    world.rules.put(group("one", "few", "1h"));
    world.schedule.step();
    await world.pass(2);
    expect(world.asked.map(({ tenant }) => tenant)).toEqual(
      Array(RULE_EVALUATIONS_UNDER_WAY_MAX - RULE_EVALUATIONS_UNDER_WAY_SHARE).fill("many"),
    );
    world.rules.put(group("two", "few", "1s"));
    await world.pass(2);
    expect(world.asked.at(-1)?.tenant).toBe("few");
  });

  it("evaluates a group that was deleted once more, without rules, and one that was changed with its state", async () => {
    const world = new World();
    world.rules.put(group("shop"));
    world.schedule.step();
    await world.pass(10);
    await world.asked[0]?.end();
    world.rules.put(group("shop", "default", "20s"));
    await world.pass(20);
    expect(world.asked[1]?.work).toMatchObject({ state: Uint8Array.of(1), document: group("shop", "default", "20s").text });
    await world.asked[1]?.end();
    world.rules.remove("default", groupIdOf("", "shop"));
    await world.pass(1);
    expect(JSON.parse(world.asked[2]?.work.document ?? "")).toEqual({ name: "shop", rules: [] });
    await world.asked[2]?.fail();
    await world.pass(20);
    expect(world.asked[3]?.work).toMatchObject({ state: Uint8Array.of(1), document: world.asked[2]?.work.document });
    await world.asked[3]?.end();
    await world.pass(60);
    expect(world.asked).toHaveLength(4);
  });
});
