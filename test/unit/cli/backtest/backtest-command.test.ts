import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runBacktest } from "../../../../src/cli/backtest/backtest.ts";
import { loadConfig } from "../../../../src/core/config/load-config.ts";
import { StaleRule } from "../../../../src/domain/backtest/rules/stale-rule.ts";
import { generator } from "../../../support/generator.ts";

let folder = "";
let out = "";
let notices = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "backtest-"));
  out = "";
  notices = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    notices += String(text);
    return true;
  });
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]) => runBacktest(args, { DATA_DIR: folder }, () => loadConfig({}, () => Buffer.alloc(0)));

const START = Date.UTC(2026, 0, 5);

/** Five hours of minutes with a departure of six standard deviations for five minutes of the fifth. */
function departure(startMs = START): Array<readonly [time: string, value: number]> {
  const { normal } = generator(2);
  return Array.from({ length: 300 }, (_, i) => {
    const departs = i >= 260 && i < 265;
    const value = 100 + (departs ? 0.25 : 1) * Math.max(-2, Math.min(2, normal())) + (departs ? 6.3 : 0);
    return [new Date(startMs + i * 60_000).toISOString(), value] as const;
  });
}

function written(name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

const file = () => written("load.csv", ["timestamp,load", ...departure().map((row) => row.join(","))]);
const HISTORY = "timestamp,service_id,metric_name,value";
const paged = { pages: { before: 1, after: 0, newly: 0, no_longer: 1 } };

describe("vedette backtest", () => {
  it("tells of a file what a higher threshold would no longer page", async () => {
    const path = file();
    expect(await run(path, "--set", "z_threshold=8", "--json")).toBe(0);
    const view = JSON.parse(out);
    expect(view).toMatchObject({ series: 1, samples: 300, pages: { before: 1, after: 0, newly: 0, no_longer: 1 } });
    expect(view.no_longer[0]).toMatchObject({ service_id: "file", metric_name: "load", reason: "not_declared" });
    out = "";
    expect(await run(path, "--set", "z_threshold=8")).toBe(0);
    expect(out).toContain("pages: 1 as it is, 0 with the changes (0 new, 1 no longer)");
    expect(out).toContain("would no longer page:");
  });

  it("takes silences, and counts nothing before --since", async () => {
    const path = file();
    await run(path, "--silence", "metric_name=load@2026-01-05T04:00:00Z/2026-01-05T06:00:00Z", "--json");
    expect(JSON.parse(out).no_longer).toMatchObject([{ reason: "silenced" }]);
    out = "";
    await run(path, "--since", "2026-01-05T04:30:00Z", "--json");
    expect(JSON.parse(out).pages).toMatchObject({ before: 0, after: 0 });
  });

  it("takes the file that vedette import takes: CSV of several services in any order, with environments, of any time", async () => {
    const rows = (service: string, environment: string, startMs = START) =>
      departure(startMs).map(([time, value]) => `${time},${service},load,${service === "quiet" ? 100 : value},${environment}`);
    const path = written("history.csv", [
      `${HISTORY},environment`,
      ...rows("api", "prod").reverse(),
      ...rows("quiet", "prod"),
      ...rows("api", "test"),
    ]);
    expect(await run(path, "--set", "z_threshold=8", "--json")).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ series: 3, samples: 900, pages: { before: 2, after: 0, no_longer: 2 } });
    out = "";
    await run(path, "--set", "z_threshold=8", "--json", "--service", "api", "--environment", "prod");
    const view = JSON.parse(out);
    expect(view).toMatchObject({ series: 1, samples: 300, ...paged });
    expect(view.no_longer[0]).toMatchObject({ service_id: "api", environment: "prod", metric_name: "load" });
    out = "";
    expect(
      await run(
        written("old.csv", [HISTORY, ...departure(Date.UTC(1999, 0, 4)).map(([t, v]) => `${t},api,load,${v}`)]),
        "--set",
        "z_threshold=8",
        "--json",
      ),
    ).toBe(0);
    expect([JSON.parse(out), notices]).toEqual([expect.objectContaining(paged), ""]);
  });

  it("takes JSON as an import does, with counters as what was added, and says what it leaves out", async () => {
    let total = 0;
    const samples: Array<[timeMs: number, value: number | string]> = departure().map(([time, value]) => {
      total += Math.round(1000 * value);
      return [Date.parse(time), total];
    });
    samples.push([START + 600 * 60_000, "much"]);
    const path = written("history.json", [
      JSON.stringify({ series: [{ service_id: "api", metric_name: "jobs", kind: "counter", samples }] }),
    ]);
    expect(await run(path, "--set", "z_threshold=8", "--json")).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ series: 1, samples: 299, ...paged });
    expect(notices).toMatch(/^vedette backtest: 1 samples of .*history\.json are left out, such as .*\n$/);
  });

  it("puts late rows where their times belong, and says so once", async () => {
    const rows = departure().map((row) => row.join(","));
    const [late] = rows.splice(100, 1);
    rows.splice(200, 0, late as string);
    expect(await run(written("late.csv", ["timestamp,load", ...rows]), "--set", "z_threshold=8", "--json")).toBe(0);
    const view = JSON.parse(out);
    expect(view).toMatchObject({ samples: 300, ...paged });
    expect(notices).toMatch(/^vedette backtest: 1 rows of .*late\.csv come late \(the first in line 202\); .*\n$/);
    out = "";
    await run(file(), "--set", "z_threshold=8", "--json");
    expect(view).toEqual(JSON.parse(out));
  });

  it("goes over what the file has of a range, says what it leaves out, and walks no empty years", async () => {
    const cycles = vi.spyOn(StaleRule.prototype, "cycle");
    await run(file(), "--set", "z_threshold=8", "--json");
    const [whole, count] = [JSON.parse(out), cycles.mock.calls.length];
    expect([whole.since, whole.until, notices]).toEqual(["2026-01-05T00:00:00.000Z", "2026-01-05T04:59:00.001Z", ""]);
    for (const [since, until] of [
      ["1970-01-01T00:00:00Z", "2126-01-01T00:00:00Z"],
      ["2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z"],
    ] as const) {
      [out, notices] = ["", ""];
      cycles.mockClear();
      await run(file(), "--set", "z_threshold=8", "--json", "--since", since, "--until", until);
      expect(JSON.parse(out)).toEqual(whole);
      expect(cycles.mock.calls.length).toBe(count);
      expect(notices).toMatch(/has samples from 2026-01-05T00:00:00\.000Z to 2026-01-05T04:59:00\.000Z; the rest of the range/);
    }
  });

  const wrong: Array<[title: string, args: string[], message: string]> = [
    ["no times without a file", [], "give --since and --until"],
    ["a setting that does not exist", ["x.csv", "--set", "zThreshold=4"], "--set takes NAME=VALUE with one of z_threshold"],
    ["a threshold out of bounds", ["x.csv", "--set", "z_threshold=40"], "--set z_threshold:"],
    ["a time that is none", ["x.csv", "--since", "yesterday"], "--since takes a time"],
    ["a silence without a time", ["x.csv", "--silence", "a=b"], "--silence takes LABEL=VALUE"],
    ["a file that does not exist", ["x.csv"], "cannot be read"],
    [
      "a server that is not there",
      ["--since", "2026-01-05T00:00:00Z", "--until", "2026-01-06T00:00:00Z", "--url", "http://127.0.0.1:9"],
      "cannot be reached",
    ],
  ];
  it.each([
    ["a range without samples", ["--since", "2027-01-01T00:00:00Z", "--until", "2028-01-01T00:00:00Z"], "leave none of them"],
    ["a metric that the file has not", ["--metric", "none"], "no samples of what was selected"],
  ])("refuses %s in one line", async (_, args, message) => {
    expect(await run(file(), ...args)).toBe(args.includes("--url") ? 69 : 1);
    expect(notices).toContain(message);
    expect(notices.trim().split("\n")).toHaveLength(1);
  });

  it.each(wrong)("refuses %s in one line", async (_, args, message) => {
    expect(await run(...args)).toBe(args.includes("--url") ? 69 : 1);
    expect(notices).toContain(message);
    expect(notices.trim().split("\n")).toHaveLength(1);
  });
});
