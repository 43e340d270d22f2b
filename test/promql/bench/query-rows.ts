// Rows of the bench of queries that time answers: rate() beside Debian's Prometheus on the same feed, and lists of labels, values and series.
import { readFileSync } from "node:fs";
import { ServerBench } from "../../support/server-process.ts";
import { PrometheusProcess, sendBody, WRITE_PATHS } from "../prometheus-process.ts";
import { counterBodies } from "./bench-feed.ts";
import { type Figure, quantile } from "./bench-figure.ts";

const RATE = { name: "bench_requests_total", series: 1_000, samples: 1_440, stepMs: 15_000 };
const LISTED = { name: "bench_listed_total", series: 10_000, samples: 20, stepMs: 15_000 };
const WARM_ROUNDS = 3;
/** Grafana asks thus: a selector of a metric, of a service, and no selector at all. */
const LISTS: ReadonlyArray<readonly [what: string, path: string]> = [
  ["label values", "label/zone/values"],
  ["label values of a metric", `label/pod/values?match[]=${LISTED.name}`],
  ["label values of names", "label/__name__/values"],
  ["labels", "labels"],
  ["labels of a service", `labels?match[]=${encodeURIComponent(`${LISTED.name}{service_id="service-7"}`)}`],
  ["series of a zone", `series?match[]=${encodeURIComponent(`${LISTED.name}{zone="zone-3"}`)}`],
  ["series, all", `series?match[]=${LISTED.name}`],
];

/** Milliseconds until the last byte of an answer; throws where it is no success. */
async function answerMs(url: string): Promise<number> {
  const startMs = performance.now();
  const answer = await fetch(url);
  const text = await answer.text();
  if (!text.startsWith('{"status":"success"')) throw new Error(`${url}: ${text.slice(0, 300)}`);
  return performance.now() - startMs;
}

/** Seconds of processor time that a process has had so far, in hundredths. */
export function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** rate(x[5m]) over six hours: both are asked by turns, and the ratios are of medians and of the processor time of both processes meanwhile. */
export async function rateRow(pairs: number): Promise<Figure[]> {
  const bench = new ServerBench();
  const prometheus = await PrometheusProcess.start();
  try {
    const { origin, pid } = await bench.start();
    const endMs = Date.now() - 60_000;
    for (const body of counterBodies({ ...RATE, endMs })) {
      await sendBody(prometheus.origin + WRITE_PATHS.theirs, body);
      await sendBody(origin + WRITE_PATHS.ours, body);
    }
    const [theirs, ours]: [number[], number[]] = [[], []];
    let spent: readonly [number, number] = [0, 0];
    for (const query of [`rate(${RATE.name}[5m])`]) {
      const asked = new URLSearchParams({ query, start: String(endMs / 1_000 - 6 * 3_600), end: String(endMs / 1_000), step: "60" });
      for (let pair = -WARM_ROUNDS; pair < pairs; pair++) {
        if (pair === 0) spent = [processorSeconds(prometheus.pid), processorSeconds(pid)];
        const [a, b] = [
          await answerMs(`${prometheus.origin}/api/v1/query_range?${asked}`),
          await answerMs(`${origin}/prometheus/api/v1/query_range?${asked}`),
        ];
        if (pair >= 0) [theirs, ours].forEach((list, index) => list.push(index === 0 ? a : b));
      }
    }
    const [theirSeconds, ourSeconds] = [processorSeconds(prometheus.pid) - spent[0], processorSeconds(pid) - spent[1]];
    const [theirMs, ourMs] = [quantile(theirs, 0.5), quantile(ours, 0.5)];
    const note = `medians of ${pairs} pairs by turns: Prometheus ${theirMs.toFixed(0)} ms, here ${ourMs.toFixed(0)} ms`;
    const spread = `from ${Math.min(...ours).toFixed(0)} to ${Math.max(...ours).toFixed(0)} ms here, ${Math.min(...theirs).toFixed(0)} to ${Math.max(...theirs).toFixed(0)} there`;
    const spentNote = `of both processes over all pairs: Prometheus ${theirSeconds.toFixed(2)} s, here ${ourSeconds.toFixed(2)} s`;
    const what = "rate(x[5m]), 1,000 series of 15 s, 6 h, step 60 s";
    return [
      { what, value: ourMs / theirMs, unit: "times", bar: 1.5, goal: 0.7, note: `${note}; ${spread}` },
      { what: `${what}, processor time`, value: ourSeconds / theirSeconds, unit: "times", note: spentNote },
    ];
  } finally {
    prometheus.end();
    await bench.close();
  }
}

/** Lists over 10,000 series: each is asked one after another. */
export async function listRow(asks: number): Promise<Figure[]> {
  const bench = new ServerBench();
  try {
    const { origin } = await bench.start();
    for (const body of counterBodies({ ...LISTED, endMs: Date.now() - 15_000 })) await sendBody(origin + WRITE_PATHS.ours, body);
    const figures: Figure[] = [];
    for (const [what, path] of LISTS) {
      const times: number[] = [];
      for (let ask = -WARM_ROUNDS; ask < asks; ask++) {
        const ms = await answerMs(`${origin}/prometheus/api/v1/${path}`);
        if (ask >= 0) times.push(ms);
      }
      const note = `median ${quantile(times, 0.5).toFixed(1)} ms of ${asks}`;
      figures.push({ what: `10,000 series, ${what}, p99`, value: quantile(times, 0.99), unit: "ms", bar: 200, goal: 50, note });
    }
    return figures;
  } finally {
    await bench.close();
  }
}
