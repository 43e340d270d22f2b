// Which server commands ask: all of them by the same rule.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readBacktestOptions } from "../../../../src/cli/backtest/backtest-options.ts";
import { askedServer } from "../../../../src/cli/client/asked-server.ts";
import type { CommandArguments } from "../../../../src/cli/command-arguments.ts";
import { demoServer } from "../../../../src/cli/demo.ts";
import { readImportOptions } from "../../../../src/cli/import/import-options.ts";

const NOW = Date.parse("2026-01-31T12:00:00Z");
const folder = mkdtempSync(join(tmpdir(), "vedette-asked-"));
writeFileSync(join(folder, "admin-token"), "own\n");
afterAll(() => rmSync(folder, { recursive: true }));

describe("a command asks", () => {
  const there = { VEDETTE_URL: "http://there:9000/", VEDETTE_TOKEN: "t", DATA_DIR: folder };
  it("B16: the server of VEDETTE_URL, import, backtest and demos too", () => {
    expect(readImportOptions(["f.csv"], there)).toMatchObject({ url: "http://there:9000", token: "t" });
    expect(readBacktestOptions(["--since", "1h"], there, NOW)).toMatchObject({ url: "http://there:9000", token: "t" });
    const demo = (...operands: string[]) => demoServer({ operands } as unknown as CommandArguments, there);
    expect(demo()).toEqual({ url: "http://there:9000", headers: { Authorization: "Bearer t" } });
    expect(demo("http://here:1/").url).toBe("http://here:1");
    expect(readImportOptions(["f.csv", "--url", "http://here:1"], there)).toMatchObject({ url: "http://here:1" });
  });
  it("that of the settings with its own token, which goes to no other", () => {
    expect(askedServer({}, { DATA_DIR: folder, PORT: "8081" })).toEqual({ url: "http://127.0.0.1:8081", token: "own", tenant: undefined });
    expect(askedServer({}, { DATA_DIR: folder, VEDETTE_URL: "http://there:9000" }).token).toBeUndefined();
    expect(askedServer({ url: "http://here:1" }, { DATA_DIR: folder }).token).toBeUndefined();
    expect(() => readImportOptions(["f.csv"], { DATA_DIR: folder, VEDETTE_URL: "http://there:9000" })).toThrow(/admin's token/);
    expect(() => askedServer({ url: "there:9000" }, {})).toThrow(/http\(s\)/);
  });
});

describe("a backtest", () => {
  const times = (...args: string[]) => {
    const { since, until } = readBacktestOptions(args, {}, NOW);
    return [since, until];
  };
  it("takes how long ago, and now where it is not told until when", () => {
    expect(times("--since", "1h")).toEqual(["2026-01-31T11:00:00.000Z", "2026-01-31T12:00:00.000Z"]);
    expect(times("--since", "7d", "--until", "30m")).toEqual(["2026-01-24T12:00:00.000Z", "2026-01-31T11:30:00.000Z"]);
    expect(times("--since", "2026-01-01T00:00:00Z", "--until", "2026-01-02T00:00:00Z")).toEqual([
      "2026-01-01T00:00:00Z",
      "2026-01-02T00:00:00Z",
    ]);
    for (const bad of ["1x", "yesterday", "-1h"]) expect(() => times(`--since=${bad}`)).toThrow(/or 1h for an hour ago/);
    expect(() => times("--until", "1h")).toThrow(/give --since and --until/);
  });
});
