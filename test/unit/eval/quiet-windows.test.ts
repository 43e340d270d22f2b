// Windows of a bench's turn in which the hypervisor left us our cores, with ticks of our own.
import { describe, expect, it } from "vitest";
// @ts-expect-error: the benches are JavaScript without declarations
import { quietLatency } from "../../../native-bench/clients/detection-turn.mjs";
// @ts-expect-error: the benches are JavaScript without declarations
import { quietWindows, watchEdges } from "../../../native-bench/clients/quiet-windows.mjs";

function edge(atMs: number, ticks: number) {
  return { atMs, ticks };
}

describe("quiet windows", () => {
  it("are those in which less than 0.01 of a core was stolen", () => {
    const edges = [edge(0, 100), edge(3000, 103), edge(6000, 107), edge(8000, 107)];
    expect(quietWindows(edges)).toMatchObject([
      { fromMs: 0, toMs: 3000 },
      { fromMs: 6000, toMs: 8000 },
    ]);
    expect(quietWindows([edge(0, 0)])).toEqual([]);
  });

  it("lie between looks from the beginning on, and the last one ends with the load", async () => {
    let ticks = 0;
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const edges = watchEdges(begun, { everyMs: 60_000, ticks: () => ++ticks });
    expect(ticks).toBe(0);
    begin();
    await expect.poll(() => ticks).toBe(1);
    const seen = await edges.end();
    expect(seen).toMatchObject([{ ticks: 1 }, { ticks: 2 }]);
  });

  it("give the latencies of what was due in them, without the cold plants", () => {
    const cold = 2000;
    const dueMs = new Map<string, number>();
    const heardMs: Record<string, number> = {};
    for (let plant = 0; plant < cold + 300; plant++) {
      dueMs.set(`p${plant}`, plant);
      heardMs[`p${plant}`] = plant + (plant < cold + 100 ? 500 : 5);
    }
    const windows = [
      { fromMs: cold + 100, toMs: cold + 200 },
      { fromMs: cold + 250, toMs: cold + 300 },
    ];
    const quiet = quietLatency(dueMs, heardMs, windows);
    expect(quiet.plants).toBe(150);
    expect(quiet.seen).toEqual({ p50Ms: 5, p99Ms: 5, maxMs: 5 });
    expect(quietLatency(dueMs, heardMs, []).plants).toBe(0);
  });
});
