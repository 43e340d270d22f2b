// `vedette replay` from files to scores: formats, training, folders, errors, and that no row knows what comes after it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { runReplay } from "../../src/cli/replay/replay.ts";
import { loadConfig } from "../../src/core/config/load-config.ts";
import { seededRandom } from "../../src/domain/detection/multivariate/isolation-forest.ts";

const folder = mkdtempSync(join(tmpdir(), "vedette-replay-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

const config = () => loadConfig({}, () => Buffer.alloc(0));
const START = Date.UTC(2026, 0, 5);

/** Rows of five minutes, with 50 instead of 10 from `from` to `to`. */
function series(rows: number, from: number, to = rows): string[] {
  const random = seededRandom(1);
  return Array.from({ length: rows }, (_, i) => {
    const time = new Date(START + i * 300_000).toISOString().slice(0, 19).replace("T", " ");
    return `${time},${((i >= from && i < to ? 50 : 10) + random()).toFixed(4)}`;
  });
}

/** Rows of three metrics that follow one another; the second goes the other way from `from` to `to`, within its usual range. */
function service(seed: number, rows: number, from: number, to: number): string[] {
  const random = seededRandom(seed);
  let load = 10;
  return Array.from({ length: rows }, (_, i) => {
    load += 0.1 * (10 - load) + random() - 0.5;
    const cells = [load, i >= from && i < to ? 40 - 2 * load : 2 * load, load + random()];
    return cells.map((cell) => cell.toFixed(4)).join(",");
  });
}

function file(name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, name.endsWith(".gz") ? gzipSync(`${lines.join("\n")}\n`) : `${lines.join("\r\n")}\n`);
  return path;
}

function damaged(name: string): string {
  const path = join(folder, name);
  writeFileSync(path, "no gzip");
  return path;
}

async function replay(...args: readonly string[]): Promise<string[][]> {
  const out = join(folder, "out.csv");
  expect(await runReplay(["--out", out, ...args], config)).toBe(0);
  return rowsOf(out);
}

function rowsOf(path: string): string[][] {
  const [header, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(header).toBe("timestamp,score,alert,page");
  return lines.map((line) => line.split(","));
}

async function failure(...args: readonly string[]): Promise<string> {
  const text: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((chunk) => text.push(String(chunk)) > 0);
  expect(await runReplay(args, config)).toBe(1);
  return text.join("");
}

describe("one series", () => {
  it("gives a row for a row, with the file's timestamps, and fires where the level breaks", async () => {
    const rows = await replay(file("shift.csv", ["timestamp,value", ...series(2000, 1500, 1600)]));
    expect(rows.length).toBe(2000);
    expect(rows[0]?.[0]).toBe("2026-01-05 00:00:00");
    expect(rows[1499]?.[2]).toBe("0");
    const json = join(folder, "out.json");
    expect(await runReplay(["--json", "--out", json, join(folder, "shift.csv")], config)).toBe(0);
    const objects = readFileSync(json, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(objects.map(({ timestamp, score, alert, page }) => [timestamp, score, alert, page].map(String))).toEqual(rows);
    expect(rows.slice(1500, 1512).some(([, , alert]) => alert === "1")).toBe(true);
    expect(rows.at(-1)?.[2]).toBe("0");
    expect(rows.every(([, score]) => Number(score) >= 0 && Number(score) <= 1)).toBe(true);
    expect(Number(rows[1500]?.[1])).toBeGreaterThan(0.7);
  });

  it("no row depends on a later one", async () => {
    const lines = series(2000, 1500, 1600);
    const whole = await replay(file("whole.csv", ["timestamp,value", ...lines]));
    const part = await replay(file("part.csv", ["timestamp,value", ...lines.slice(0, 1505)]));
    expect(part).toEqual(whole.slice(0, 1505));
  });

  it("the same from .gz, with a zone, in seconds, and without timestamps", async () => {
    const lines = series(600, 500);
    const plain = (await replay(file("plain.csv", ["timestamp,value", ...lines]))).map(([, ...rest]) => rest);
    const time = (line: string): number => Date.parse(`${line.slice(0, 19).replace(" ", "T")}Z`);
    const value = (line: string): string => line.slice(20);
    const forms = {
      "form.csv.gz": ["timestamp,value", ...lines],
      "zone.csv": [
        "timestamp,value",
        ...lines.map((line) => `${new Date(time(line) + 7_200_000).toISOString().slice(0, 19)}+02:00,${value(line)}`),
      ],
      "epoch.csv": ["time,value", ...lines.map((line) => `${time(line) / 1000},${value(line)}`)],
    };
    for (const [name, form] of Object.entries(forms)) expect((await replay(file(name, form))).map(([, ...rest]) => rest)).toEqual(plain);
    const bare = await replay("--interval", "300", file("bare.csv", ["value", ...lines.map(value)]));
    expect(bare.map(([, score]) => score)).toEqual(plain.map(([score]) => score));
    expect(bare[1]?.[0]).toBe("1970-01-05T00:05:00.000Z");
  });

  it("a row without a value keeps score and alert of the row before it", async () => {
    const lines = series(300, 200);
    lines[250] = `${lines[250]?.slice(0, 19)},NaN`;
    const rows = await replay(file("holes.csv", ["timestamp,value", ...lines]));
    expect(rows.length).toBe(300);
    expect(rows[250]?.slice(1)).toEqual(rows[249]?.slice(1));
  });
});

describe("a row that is earlier than one before it", () => {
  const said = () => {
    const text: string[] = [];
    vi.spyOn(process.stderr, "write").mockImplementation((chunk) => text.push(String(chunk)) > 0);
    return text;
  };

  it("is a late sample: it has its output row, is not judged, changes nothing of what follows, and is said once", async () => {
    const lines = series(300, 200);
    const inOrder = await replay(file("ordered.csv", ["timestamp,value", ...lines]));
    const late = (at: number) => `${lines[at]?.slice(0, 19)},9999`;
    const text = said();
    const rows = await replay(file("nab.csv", ["timestamp,value", ...lines.slice(0, 150), late(20), late(21), ...lines.slice(150)]));
    expect(rows.length).toBe(302);
    expect([rows[150]?.[0], rows[151]?.[0]]).toEqual([lines[20]?.slice(0, 19), lines[21]?.slice(0, 19)]);
    for (const row of [150, 151]) expect(rows[row]?.slice(1)).toEqual(rows[149]?.slice(1));
    expect(rows.filter((_, row) => row !== 150 && row !== 151)).toEqual(inOrder);
    expect(text).toEqual([expect.stringMatching(/nab\.csv: 2 rows, the first in line 152, are earlier than a row before: .*\n$/)]);
  });

  it("is so of a service with its metrics too, and in its training", async () => {
    const [train, test] = [service(1, 600, 0, 0), service(2, 300, 200, 230)];
    const timed = (lines: readonly string[], from: number) =>
      lines.map((line, i) => `${new Date(START + (from + i) * 60_000).toISOString()},${line}`);
    const head = "timestamp,cpu,rps,latency";
    const [learned, rows] = [timed(train, 0), timed(test, 600)];
    const run = (name: string, a: readonly string[], b: readonly string[]) =>
      replay("--train", file(`${name}-a.csv`, [head, ...a]), file(`${name}-b.csv`, [head, ...b]));
    const inOrder = await run("ordered", learned, rows);
    const text = said();
    const late = (at: number) => `${learned[at]?.slice(0, 24)},1e6,1e6,1e6`;
    const shuffled = await run(
      "late",
      [...learned.slice(0, 400), late(3), ...learned.slice(400)],
      [...rows.slice(0, 100), late(5), ...rows.slice(100)],
    );
    expect(shuffled.filter((_, row) => row !== 100)).toEqual(inOrder);
    expect(shuffled[100]?.slice(1)).toEqual(shuffled[99]?.slice(1));
    expect(text.map((line) => /late-[ab]\.csv: line \d+ is earlier/.test(line))).toEqual([true, true]);
  });
});

describe("one service", () => {
  it("learns from --train, and fires where a relation breaks", async () => {
    const train = file("web.csv", ["cpu,rps,latency", ...service(1, 1500, 0, 0)]);
    const test = file("next.csv", ["cpu,rps,latency", ...service(2, 600, 400, 430)]);
    const rows = await replay("--interval", "60", "--train", train, test);
    expect(rows.length).toBe(600);
    const alerts = rows.flatMap(([, , alert], i) => (alert === "1" ? [i] : []));
    expect(alerts.length).toBeGreaterThan(0);
    expect(alerts[0]).toBeGreaterThanOrEqual(400);
    expect(alerts[0]).toBeLessThan(405);
  });

  it("learns from its own beginning without", async () => {
    const rows = await replay("--interval", "60", file("alone.csv", ["a,b,c", ...service(3, 3000, 2600, 2630)]));
    expect(rows.slice(0, 2600).some(([, , alert]) => alert === "1")).toBe(false);
    expect(rows.slice(2600, 2630).filter(([, , , page]) => page === "1")).toHaveLength(1);
  });

  it("a folder: every file with the training beside it", async () => {
    mkdirSync(join(folder, "set", "deep"), { recursive: true });
    file("set/m.train.csv.gz", ["a,b,c", ...service(1, 500, 0, 0)]);
    file("set/m.test.csv.gz", ["a,b,c", ...service(2, 300, 200, 220)]);
    file("set/deep/one.csv", ["timestamp,value", ...series(100, 100)]);
    expect(await runReplay(["--interval", "60", "--out", join(folder, "scores"), join(folder, "set")], config)).toBe(0);
    expect(rowsOf(join(folder, "scores", "m.csv")).length).toBe(300);
    expect(rowsOf(join(folder, "scores", "deep", "one.csv")).length).toBe(100);
  });
});

describe("what cannot be replayed says why", () => {
  it.each([
    ["no file", () => [join(folder, "nowhere.csv")], /there is no .*nowhere\.csv/],
    ["no argument", () => [], /give one file or folder/],
    ["an unknown option", () => ["--quick", "x"], /--quick.*vedette replay/],
    ["a bad interval", () => ["--interval", "0", "x"], /--interval takes seconds/],
    ["no times and no interval", () => [file("t1.csv", ["a,b", "1,2"])], /no timestamp column.*--interval/],
    [
      "a cell that is no number",
      () => [file("t2.csv", ["timestamp,value", "2026-01-01 00:00:00,1", "2026-01-01 00:01:00,one"])],
      /line 3 has "one"/,
    ],
    ["a bad time", () => [file("t3.csv", ["timestamp,value", "yesterday,1"])], /line 2 has the time "yesterday"/],
    ["a short row", () => [file("t5.csv", ["timestamp,a,b", "2026-01-02 00:00:00,1"])], /line 2 has 2 cells instead of 3/],
    ["an empty file", () => [file("t6.csv", ["timestamp,value"])], /holds no rows/],
    ["damaged gzip", () => [damaged("t7.csv.gz")], /cannot be read/],
    ["a folder without --out", () => [folder], /give --out/],
    [
      "training of another width",
      () => ["--interval", "60", "--train", file("t8.csv", ["a,b,c", "1,2,3"]), file("t9.csv", ["a,b", "1,2"])],
      /has 2 metrics, but .* has 3/,
    ],
  ])("%s", async (_, args, message) => expect(await failure(...args())).toMatch(message));
});
