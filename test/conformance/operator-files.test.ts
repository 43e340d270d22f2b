// The Prometheus rules and the Grafana dashboard on Vedette itself ask for metrics that there are, each alert says what to do, and the dashboard is what its script makes.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ServerBench } from "../support/server-process.ts";

interface Rules {
  readonly groups: ReadonlyArray<{
    readonly rules: ReadonlyArray<Record<"alert" | "expr", string> & { annotations: Record<string, string> }>;
  }>;
}
interface Dashboard {
  readonly panels: ReadonlyArray<{ readonly targets?: ReadonlyArray<{ readonly expr: string }> }>;
}

const rules = (parse(readFileSync("packaging/prometheus/vedette-rules.yml", "utf8")) as Rules).groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(readFileSync("packaging/grafana/vedette-dashboard.json", "utf8")) as Dashboard;
/** What the page of a server with a certificate has besides: test/conformance/tls.test.ts. */
const OVER_TLS = ["vedette_tls_certificate_expiry_timestamp_seconds"];
const bench = new ServerBench();
/** Names that the page declares with a type. */
let declared: ReadonlySet<string>;

beforeAll(async () => {
  const server = await bench.start();
  const page = await (await fetch(`${server.origin}/metrics`)).text();
  declared = new Set([...[...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string), ...OVER_TLS]);
});
afterAll(() => bench.close());

/** Metrics of an expression that the page does not declare. */
function unknown(expression: string): string[] {
  const names = expression.match(/\b(?:vedette|svc|process|nodejs)_\w+/g) ?? [];
  return names.filter((name) => !declared.has(name) && !declared.has(name.replace(/_bucket$/, "")));
}

describe("files for operators", () => {
  it("has rules that ask for metrics that there are, and say what to do", () => {
    expect(rules.length).toBeGreaterThan(5);
    for (const { alert, expr, annotations } of rules) {
      expect([alert, ...unknown(expr)]).toEqual([alert]);
      expect([alert, Object.keys(annotations).sort()]).toEqual([alert, ["advice", "summary"]]);
    }
  });

  it("has a dashboard that asks for metrics that there are, as its script makes it", () => {
    const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(15);
    expect(expressions.flatMap(unknown)).toEqual([]);
    execFileSync(process.execPath, ["scripts/grafana-dashboard.mjs", "--check"]);
  });
});
