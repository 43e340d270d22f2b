import { describe, expect, it } from "vitest";
import { makeControlState } from "../../../../src/actors/coordinator/nouns/committed-state.ts";
import {
  PATTERN_MATCHERS_PER_TENANT_MAX,
  PATTERN_MATCHERS_STORED_MAX,
  PATTERN_TABLE_BYTES_PER_TENANT_MAX,
} from "../../../../src/core/config/pattern-limits.ts";
import type { LabelMatcher } from "../../../../src/domain/alerting/label-matcher.ts";
import { PatternCache } from "../../../../src/domain/alerting/pattern/pattern-cache.ts";
import { environmentSettings } from "../../../../src/domain/detection/watchdog-settings.ts";
import { inhibitionOperation } from "../../../../src/modules/silences/inhibition-book.ts";
import { patternSumProblem } from "../../../../src/modules/silences/pattern-capacity.ts";
import { silenceOperation } from "../../../../src/modules/silences/silence-book.ts";
import { makeCoordinatorShares } from "../../../../src/modules/state/coordinator-shares.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig, START_MS } from "../../../support/coordinator-rig.ts";

const HOUR_MS = 3_600_000;
const iso = (offsetMs: number) => new Date(START_MS + offsetMs).toISOString();
const pattern = (value: string) => ({ name: "service_id", operator: "=~", value });
const equal = { name: "service_id", operator: "=", value: "api" };
const silence = (rig: Rig, body: object, tenant = "default") =>
  rig.ask("createSilence", {}, {}, tenant, { ends_at: iso(HOUR_MS), ...body });
const inhibition = (rig: Rig, source: object[], target: object[]) =>
  rig.ask("createInhibition", {}, {}, "default", { source_matchers: source, target_matchers: target });
/** What is in force, as it is stored. */
function configuredOf(rig: Rig): ReturnType<typeof makeControlState> {
  const state = makeControlState(
    { settings: environmentSettings({}), samplesMin: 12 },
    makeCoordinatorShares({}, () => 1),
  );
  state.load(rig.control, START_MS);
  return state;
}
const warnings = (rig: Rig) => rig.messages.flatMap((message) => (message.type === "log" && message.level === "warn" ? [message.msg] : []));

describe("patterns of a tenant", () => {
  it("are bounded over silences and inhibitions in force; equal values do not count, nor what has expired or is another tenant's", async () => {
    const rig = await Rig.open();
    const thirty = (from: number) => Array.from({ length: 30 }, (_, i) => pattern(`web-${from + i}.*`));
    for (let i = 0; i < 8; i++) expect((await silence(rig, { matchers: thirty(30 * i) })).status).toBe(201);
    expect((await inhibition(rig, thirty(240), thirty(270))).status).toBe(201);
    const refused = [await silence(rig, { matchers: [pattern("one-more")] }), await inhibition(rig, [equal], [pattern("one-more")])];
    for (const { status, body } of refused) {
      expect([status, body.message]).toEqual([
        422,
        expect.stringMatching(/300 matchers with =~ or !~ are in force.*1 more.*room for 300.*delete/),
      ]);
    }
    expect(PATTERN_MATCHERS_PER_TENANT_MAX).toBe(300);
    expect((await silence(rig, { matchers: [equal] })).status).toBe(201);
    expect((await silence(rig, { matchers: [pattern("one-more")] }, "other")).status).toBe(201);
    rig.nowMs += HOUR_MS;
    expect((await silence(rig, { matchers: [pattern("one-more")], ends_at: iso(2 * HOUR_MS) })).status).toBe(201);
  });

  it("are bounded in memory, a table counted once", () => {
    const tables: Pick<PatternCache, "tableBytes"> = { tableBytes: () => 64 * 1024 };
    const of = (count: number) => Array.from({ length: count }, (_, i) => pattern(`web-${i}`) as LabelMatcher);
    const room = PATTERN_TABLE_BYTES_PER_TENANT_MAX / (64 * 1024);
    const problem = (inForce: LabelMatcher[], added: LabelMatcher[]) => patternSumProblem(tables as PatternCache, inForce, added);
    expect(problem(of(room), of(1))).toBeNull();
    expect(problem([], of(room + 1))).toMatch(/need 8256 KiB of memory together; there are 8192: give shorter patterns/);
    expect(problem(of(room + 1), [equal as LabelMatcher])).toBeNull();
    const cache = new PatternCache();
    expect(cache.tableBytes("\\pL\\pN")).toBeGreaterThan(30_000);
    expect(cache.retained.bytes).toBe(cache.tableBytes("\\pL\\pN"));
  });

  it("take what Alertmanager's documentation shows", async () => {
    const rig = await Rig.open();
    for (const value of ["^(foo1|foo2|baz)$", "web-\\d+", "(?i)prod"]) {
      expect((await silence(rig, { matchers: [pattern(value)] })).status).toBe(201);
    }
    const holds = (service_id: string) => configuredOf(rig).silences.silenced("default", { service_id }, START_MS) !== undefined;
    expect(["foo1", "web-12", "PROD", "foo", "web-", "production"].map(holds)).toEqual([true, true, true, false, false, false]);
  });

  it("refuse what needs too many states, with what to do", async () => {
    const rig = await Rig.open();
    const { status, body } = await silence(rig, { matchers: [equal, pattern(".*a.{20}")] });
    expect([status, body.error, body.message]).toEqual([
      400,
      "invalid_parameter",
      expect.stringMatching(/cannot be matched: .*fewer or shorter repetitions/),
    ]);
  });
});

describe("what an earlier version stored", () => {
  const stored = (tenant: string, id: number, matchers: object[]) => {
    const row = {
      id: id.toString(16).padStart(32, "0"),
      tenant,
      matchers: matchers as never,
      when: { kind: "once" as const, startsAtMs: START_MS, endsAtMs: START_MS + HOUR_MS },
      comment: "",
      createdBy: "jane",
      createdMs: START_MS + id,
    };
    return silenceOperation(row, row);
  };
  const held = (rig: Rig, tenant: string, service_id: string) =>
    configuredOf(rig).silences.silenced(tenant, { service_id }, START_MS)?.id ?? null;

  it("opens and stays in force: long lists, more than 300 patterns", async () => {
    const rig = await Rig.open();
    const list = Array.from({ length: 90 }, (_, i) => `service-${i}`).join("|");
    const many = Array.from({ length: 400 }, (_, i) => stored("many", i + 2, [pattern(`web-${i}-.*`)]));
    await rig.control.commit([stored("default", 1, [pattern(list)]), ...many]);
    const restarted = await rig.restarted();
    expect([list.length > 256, held(restarted, "default", "service-89"), held(restarted, "many", "web-399-a")]).toEqual([
      true,
      "1".padStart(32, "0"),
      (401).toString(16).padStart(32, "0"),
    ]);
    expect(warnings(restarted)).toEqual([]);
    const more = await silence(restarted, { matchers: [pattern("x")] }, "many");
    expect([more.status, more.body.message]).toEqual([422, expect.stringContaining("400 matchers")]);
  });

  it("is named at the start where it is beyond today's bounds; the oldest stay in force, and the rest can be listed and deleted", async () => {
    const rig = await Rig.open();
    const wide = ".*a" + ".".repeat(40);
    const many = Array.from({ length: PATTERN_MATCHERS_STORED_MAX + 2 }, (_, i) => stored("many", i + 2, [pattern(`web-${i}-.*`)]));
    const rule = {
      id: "f".repeat(32),
      tenant: "default",
      sourceMatchers: [pattern(wide)] as never,
      targetMatchers: [equal] as never,
      equal: [],
      comment: "",
      createdBy: "jane",
      createdMs: START_MS,
    };
    await rig.control.commit([stored("default", 1, [pattern(wide), equal]), inhibitionOperation(rule, rule), ...many]);
    const restarted = await rig.restarted();
    const lines = warnings(restarted);
    expect(lines).toHaveLength(4);
    expect(lines.join("\n")).toMatch(
      /silence 0{31}1 of tenant default is listed but holds nothing back: pattern ".*" cannot be matched.*delete it/,
    );
    expect(lines.join("\n")).toMatch(/inhibition f{32} of tenant default .*cannot be matched/);
    expect(lines.filter((line) => /of tenant many .*1000 matchers/.test(line))).toHaveLength(2);
    expect([held(restarted, "many", "web-999-a"), held(restarted, "many", "web-1001-a")]).toEqual([expect.any(String), null]);
    const { body } = await restarted.ask("silences", {});
    expect(body.total).toBe(1);
    expect((await restarted.ask("inhibitions", {})).body.total).toBe(1);
    expect((await restarted.ask("deleteSilence", {}, { id: "1".padStart(32, "0") })).status).toBe(204);
  });
});

describe("silences in Alertmanager's form", () => {
  const matchers = [
    { name: "service_id", value: "web-\\d+", isRegex: true },
    { name: "environment", value: "prod", isRegex: false, isEqual: true },
    { name: "severity", value: "high", isRegex: false, isEqual: false },
    { name: "metric_name", value: "cpu|mem", isRegex: true, isEqual: false },
  ];
  const body = { matchers, startsAt: iso(0), endsAt: iso(HOUR_MS), createdBy: "jane", comment: "upgrade" };
  const create = (rig: Rig, given: object) => rig.ask("createSilence", {}, {}, "default", given);

  it("are taken, and answered in ours", async () => {
    const rig = await Rig.open();
    const made = await create(rig, body);
    expect(made.status).toBe(201);
    answerSchema("createSilence", 201).parse(made.body);
    expect(made.body).toMatchObject({
      matchers: [
        { name: "service_id", operator: "=~", value: "web-\\d+" },
        { name: "environment", operator: "=", value: "prod" },
        { name: "severity", operator: "!=", value: "high" },
        { name: "metric_name", operator: "!~", value: "cpu|mem" },
      ],
      starts_at: iso(0),
      ends_at: iso(HOUR_MS),
      comment: "upgrade (by jane)",
    });
    expect(made.body.created_by).not.toBe("jane");
    const labels = { service_id: "web-7", environment: "prod", severity: "low", metric_name: "disk" };
    const holds = (change: object) => configuredOf(rig).silences.silenced("default", { ...labels, ...change }, START_MS) !== undefined;
    expect([holds({}), holds({ service_id: "web-x" }), holds({ severity: "high" }), holds({ metric_name: "mem" })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(
      (await create(rig, { matchers: [{ name: "a", value: "b", isRegex: false }], ends_at: iso(1), createdBy: "jane" })).body.comment,
    ).toBe("by jane");
  });

  it.each([
    [[{ name: "alertname", operator: "!=", value: "X" }], 400],
    [[{ name: "service_id", operator: "=", value: "" }], 400],
    [
      [
        { name: "service_id", operator: "=~", value: ".*" },
        { name: "severity", operator: "!~", value: "high|low" },
      ],
      400,
    ],
    [[{ name: "service_id", operator: "=~", value: "|web" }], 400],
    [
      [
        { name: "service_id", operator: "!=", value: "X" },
        { name: "environment", operator: "=", value: "prod" },
      ],
      201,
    ],
    [[{ name: "service_id", operator: "=~", value: ".+" }], 201],
    [[{ name: "service_id", operator: "!=", value: "" }], 201],
    [[{ name: "service_id", operator: "!~", value: ".*x|" }], 201],
  ])("one matcher at least must want a value: %j is %i, as in Alertmanager", async (given, status) => {
    const answer = await create(await Rig.open(), { matchers: given, ends_at: iso(HOUR_MS) });
    expect(answer.status).toBe(status);
    if (status === 400)
      expect(answer.body).toMatchObject({
        error: "invalid_parameter",
        field: "matchers",
        message: expect.stringMatching(/absent or empty/),
      });
  });

  it.each([
    [{ ...body, id: "1" }, "unknown_field", /id is no member|"id"/],
    [{ ...body, matchers: [{ ...matchers[0], source: "x" }] }, "unknown_field", /source/],
    [{ ...body, matchers: [{ name: "a", value: "b" }] }, "missing_field", /operator/],
    [{ ...body, matchers: [{ name: "a", value: "b", isEqual: true }] }, "missing_field", /operator/],
    [{ ...body, matchers: [{ ...equal, isRegex: true }] }, "invalid_field", /isRegex and isEqual.*not both/],
    [{ ...body, matchers: [{ ...equal, isEqual: true }] }, "invalid_field", /not both/],
    [{ ...body, matchers: [{ ...matchers[0], value: "(" }] }, "invalid_parameter", /cannot be matched/],
    [{ ...body, starts_at: iso(0) }, "invalid_parameter", /startsAt.*not both/],
    [{ ...body, ends_at: iso(HOUR_MS) }, "invalid_parameter", /endsAt.*not both/],
    [{ ...body, endsAt: iso(-1) }, "invalid_parameter", /must end after/],
    [{ ...body, startsAt: "now" }, "invalid_timestamp", /RFC 3339/],
  ])("%# are refused with what is wrong", async (given, code, message) => {
    const answer = await create(await Rig.open(), given);
    expect([answer.status, answer.body.error, answer.body.message]).toEqual([400, code, expect.stringMatching(message)]);
  });
});
