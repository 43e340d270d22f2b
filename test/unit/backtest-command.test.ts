import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runBacktest } from "../../src/cli/backtest/backtest.ts";
import { loadConfig } from "../../src/core/config/load-config.ts";
import { generator } from "../support/generator.ts";

let folder = "";
let out = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "backtest-"));
  out = "";
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

/** Five hours of minutes with a departure of six standard deviations for five minutes of the fifth. */
function file(): string {
  const { normal } = generator(2);
  const rows = Array.from({ length: 300 }, (_, i) => {
    const departs = i >= 260 && i < 265;
    const value = 100 + (departs ? 0.25 : 1) * Math.max(-2, Math.min(2, normal())) + (departs ? 6.3 : 0);
    return `${new Date(Date.UTC(2026, 0, 5) + i * 60_000).toISOString()},${value}`;
  });
  const path = join(folder, "load.csv");
  writeFileSync(path, `timestamp,load\n${rows.join("\n")}\n`);
  return path;
}

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
  it.each(wrong)("refuses %s in one line", async (_, args, message) => {
    expect(await run(...args)).toBe(1);
    expect(out).toContain(message);
    expect(out.trim().split("\n")).toHaveLength(1);
  });
});
