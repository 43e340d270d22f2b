/**
 * Routing rules beside Alertmanager's own: 1,000 random sets of rules, each asked about 30 alerts, by `amtool config routes test` and by ours. All sets stand side by
 * side in one configuration, as routes that go on, so that one call of amtool answers for an alert and all sets.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inOrder, type RoutingRule, type RoutingSubject, routeOf } from "../../src/domain/notification/routing-rule.ts";
import { catchAllRule } from "../../src/domain/notification/routing-rules.ts";

const AMTOOL = "amtool";
const SETS = 1_000;
const SUBJECTS = 30;
const NONE = { named: [], enabled: false, initial: null };
const CATCH_ALL = catchAllRule(
  { chat: NONE, pager: NONE, email: { ...NONE, allowedDomains: [] }, oncall: NONE },
  "default",
  undefined,
  null,
);

function isInstalled(): boolean {
  try {
    execFileSync(AMTOOL, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const installed = isInstalled();
if (!installed) {
  const where = "prometheus-alertmanager is not installed (apt-get install prometheus-alertmanager)";
  process.stderr.write(`routing.test.ts is skipped: ${where}\n`);
}

/** Names that meet each other's patterns, with all that a regular expression or a label would read as something else. */
const NAME = fc.oneof(
  fc.constantFrom(
    "cart",
    "cart-eu",
    "cart.eu",
    "shop/cart",
    "Cart",
    "ca+t",
    "c(a)rt",
    "[cart]",
    "c^a$rt|",
    "a\\b",
    'a"b',
    "a b",
    "日本",
    "😀",
    "a😀b",
  ),
  fc.string({ unit: fc.constantFrom("a", "b", ".", "/", "-", "c"), minLength: 1, maxLength: 4 }),
);
const PIECE = fc.oneof(NAME, fc.constantFrom("*", "?", "**", "*a", "?b", "."));
const PATTERN = fc.oneof(
  NAME,
  fc.constantFrom("*", "?*", "c*", "*t", "*a*", "??", "????", "*.*", "*/*"),
  fc.array(PIECE, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join("")),
);
const ENVIRONMENT = fc.constantFrom("production", "staging");
const SEVERITY = fc.constantFrom("low", "medium", "high");
const SOURCE = fc.constantFrom("metric", "manual", "alertmanager");
const LABELS = fc.dictionary(fc.constantFrom("team", "owner", "region"), fc.constantFrom("a", "b", "a b", ""), { maxKeys: 2 });
const or = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2 });
const RULE = fc.record({
  priority: fc.integer({ min: 0, max: 4 }),
  createdAtMs: fc.integer({ min: 0, max: 2 }),
  labelMatchers: fc.oneof(fc.constant({}), LABELS),
  servicePattern: fc.option(PATTERN, { freq: 4 }),
  severity: or(SEVERITY),
  source: or(SOURCE),
  environment: or(ENVIRONMENT),
});
const SUBJECT: fc.Arbitrary<RoutingSubject> = fc.record({
  serviceId: NAME,
  severity: SEVERITY,
  source: SOURCE,
  environment: fc.oneof(ENVIRONMENT, fc.constant("")),
  labels: LABELS,
});

function sets(seed: number): RoutingRule[][] {
  return fc
    .sample(fc.array(RULE, { maxLength: 6 }), { numRuns: SETS, seed })
    .map((rules, set) => inOrder(rules.map((rule, place) => ({ ...rule, id: `${set}-${place}`, name: "", channels: [] }))));
}

/** A glob as Alertmanager's anchored regular expression. */
function regexOf(glob: string): string {
  const parts = [...glob].map((sign) => (sign === "*" ? "(?s:.*)" : sign === "?" ? "(?s:.)" : sign.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")));
  return parts.join("");
}

function matchersOf({ labelMatchers, servicePattern, severity, source, environment }: RoutingRule): string[] {
  const equal = { ...labelMatchers, severity, source, environment };
  const named = Object.entries(equal).flatMap(([name, value]) => (value === null ? [] : `${name}=${JSON.stringify(value)}`));
  return servicePattern === null ? named : [...named, `service_id=~${JSON.stringify(regexOf(servicePattern))}`];
}

/** Each set is a route that every alert takes, and that goes on to the next set. */
function configOf(all: readonly RoutingRule[][]): string {
  const routes = all.map((rules, set) => ({
    receiver: `${set}-catch-all`,
    continue: true,
    routes: rules.map((rule) => ({ receiver: rule.id, matchers: matchersOf(rule) })),
  }));
  const receivers = ["root", ...all.flatMap((rules, set) => [`${set}-catch-all`, ...rules.map(({ id }) => id)])];
  return JSON.stringify({ route: { receiver: "root", routes }, receivers: receivers.map((name) => ({ name })) }); // JSON is YAML
}

function labelArguments({ serviceId, severity, source, environment, labels }: RoutingSubject): string[] {
  const all = { service_id: serviceId, severity, source, environment, ...labels };
  return Object.entries(all).flatMap(([name, value]) => (value === "" ? [] : `${name}=${JSON.stringify(value)}`));
}

describe.skipIf(!installed)("routing rules beside amtool config routes test", () => {
  it(`differ in nothing over ${SETS} sets of rules and ${SUBJECTS} alerts`, () => {
    const seed = Number(process.env.SEED ?? 20_261_125);
    const folder = mkdtempSync(join(tmpdir(), "vedette-routing-"));
    const config = join(folder, "alertmanager.yml");
    const all = sets(seed);
    writeFileSync(config, configOf(all));
    let [matched, byGlob] = [0, 0];
    try {
      for (const subject of fc.sample(SUBJECT, { numRuns: SUBJECTS, seed })) {
        const args = ["config", "routes", "test", `--config.file=${config}`, ...labelArguments(subject)];
        const theirs = execFileSync(AMTOOL, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 2 ** 26 });
        const ours = all.map((rules, set) => {
          const rule = routeOf([...rules, CATCH_ALL], subject).rule;
          if (rule !== CATCH_ALL) matched += 1;
          if (rule?.servicePattern?.match(/[*?]/)) byGlob += 1;
          return rule === null || rule === CATCH_ALL ? `${set}-catch-all` : rule.id;
        });
        expect(theirs.trim().split(","), `${JSON.stringify(subject)}, SEED=${seed}`).toEqual(ours);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    // The sets are asked for what they are for.
    expect(matched).toBeGreaterThan((SETS * SUBJECTS) / 10);
    expect(byGlob).toBeGreaterThan(SETS);
  });
});
