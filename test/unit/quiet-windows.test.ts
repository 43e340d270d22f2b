// Windows of a bench's turn in which the hypervisor left us our cores, with a server and ticks of our own.
import { describe, expect, it } from "vitest";
// @ts-expect-error: the benches are JavaScript without declarations
import { quietLatency } from "../../native-bench/clients/detection-turn.mjs";
// @ts-expect-error: the benches are JavaScript without declarations
import { quietWindows, watchEdges } from "../../native-bench/clients/quiet-windows.mjs";

const NAME = "svc_detection_latency_seconds_bucket";

/** A page on which so many took up to 10 ms and so many more up to 100 ms. */
function page(fast: number, slow: number): string {
  return `${NAME}{le="0.01"} ${fast}\n${NAME}{le="0.1"} ${fast + slow}\n${NAME}{le="+Inf"} ${fast + slow}\n`;
}

function edge(atMs: number, ticks: number, text = "") {
  return { atMs, ticks, text };
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
    let pages = 0;
    let ticks = 0;
    const server = { metrics: async () => ({ text: `page ${++pages}` }) };
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const edges = watchEdges(server, begun, { everyMs: 60_000, ticks: () => ++ticks });
    expect(pages).toBe(0);
    begin();
    await expect.poll(() => pages).toBe(1);
    const seen = await edges.end();
    expect(seen).toMatchObject([
      { ticks: 1, text: "page 1" },
      { ticks: 2, text: "page 2" },
    ]);
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
      { fromMs: cold + 100, toMs: cold + 200, before: page(10, 7), after: page(110, 7) },
      { fromMs: cold + 250, toMs: cold + 300, before: page(150, 90), after: page(200, 90) },
    ];
    const quiet = quietLatency(dueMs, heardMs, windows);
    expect(quiet.plants).toBe(150);
    expect(quiet.seen).toEqual({ p50Ms: 5, p99Ms: 5, maxMs: 5 });
    expect(quiet.server).toMatchObject({ count: 150, boundMs: 10 });
    expect(quiet.server.p99Ms).toBeCloseTo(9.9);
    expect(quietLatency(dueMs, heardMs, []).plants).toBe(0);
  });
});
