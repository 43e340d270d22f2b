// Judges a soak and writes it down: a page of text with the figures and the rules, and a picture of the curves.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { join } from "node:path";
import { checkFlatness, type FlatnessCheck } from "./flatness.ts";
import { quantile, type SoakSample } from "./process-sampler.ts";
import type { SoakTally } from "./soak-load.ts";
import { drawPanels, type Panel } from "./soak-plot.ts";

const RESULTS = "native-bench/results";
/** A shorter run ends before rings (two minutes), stores and heaps have filled: its curves are shown, not judged. */
const JUDGED_SECONDS_MIN = 590;
/** What a stream may take resident: record, tables, identity. */
const STREAM_MIB = 3 / 1024;
const OVERLOADED_SHARE_MAX = 0.001;

/** Everything that a run brought. */
export interface SoakRun {
  readonly seed: number;
  readonly minutes: number;
  readonly samples: readonly SoakSample[];
  readonly tally: SoakTally;
  /** What /metrics counted, from before the first request to behind the last. */
  readonly counted: { readonly accepted: number; readonly rejected: number; readonly anomalies: number };
}

/** One thing that must hold whatever the length. */
interface Claim {
  readonly what: string;
  readonly holds: boolean;
}

export interface SoakVerdict {
  readonly flatness: readonly FlatnessCheck[];
  readonly isJudged: boolean;
  readonly claims: readonly Claim[];
  readonly passed: boolean;
}

/** Judges flatness over the second half, and the counts of the whole. */
export function judgeSoak({ samples, tally, counted }: SoakRun): SoakVerdict {
  const seconds = samples.map((sample) => sample.seconds);
  const of = (name: keyof SoakSample) => samples.map((sample) => sample[name]);
  const half = samples[Math.floor(samples.length / 2)];
  const newStreams = (samples.at(-1)?.streams ?? 0) - (half?.streams ?? 0);
  const memory = (median: number) => Math.max(0.05 * median, 8) + newStreams * STREAM_MIB;
  const latency = (median: number) => Math.max(0.25 * median, 5);
  const flatness = [
    {
      what: "anonymous memory",
      unit: "MiB",
      values: of("anonymousMib"),
      bound: memory,
      why: "5 % or 8 MiB, and 3 KiB for each new stream",
    },
    { what: "handles", unit: "", values: of("handles"), bound: () => 4, why: "four: connections that come and go" },
    { what: "threads", unit: "", values: of("threads"), bound: () => 0.5, why: "none" },
    { what: "write p50", unit: "ms", values: of("writeP50Ms"), bound: latency, why: "a quarter or 5 ms" },
    { what: "write p99", unit: "ms", values: of("writeP99Ms"), bound: latency, why: "a quarter or 5 ms" },
    { what: "query p99", unit: "ms", values: of("queryP99Ms"), bound: latency, why: "a quarter or 5 ms" },
    { what: "detection p99", unit: "ms", values: of("detectionP99Ms"), bound: latency, why: "a quarter or 5 ms" },
  ].map((rule) => checkFlatness(seconds, rule));
  const wrong = [...tally.wrong.values()].reduce((sum, count) => sum + count, 0);
  const claims = [
    { what: `${wrong} answers that must not be`, holds: wrong === 0 },
    {
      what: `${tally.overloaded} answers 503 with Retry-After, at most 0.1 %`,
      holds: tally.overloaded <= OVERLOADED_SHARE_MAX * tally.sent,
    },
    {
      what: `${tally.accepted} records acknowledged, ${counted.accepted} counted by the server`,
      holds: tally.accepted === counted.accepted,
    },
    { what: `${tally.refused} refusals told, ${counted.rejected} counted by the server`, holds: tally.refused === counted.rejected },
    { what: `${counted.anomalies} anomalies stored, more than none`, holds: counted.anomalies > 0 },
  ];
  const isJudged = (seconds.at(-1) ?? 0) >= JUDGED_SECONDS_MIN;
  return { flatness, isJudged, claims, passed: claims.every(({ holds }) => holds) && (!isJudged || flatness.every(({ holds }) => holds)) };
}

/** Writes soak-<date>.md and .svg, and says where. */
export function writeSoak(run: SoakRun, verdict: SoakVerdict): string {
  const name = `soak-${new Date().toISOString().slice(0, 10)}`;
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, `${name}.svg`), plotSoak(run));
  writeFileSync(join(RESULTS, `${name}.md`), summary(run, verdict, `${name}.svg`));
  return join(RESULTS, `${name}.md`);
}

function plotSoak({ samples, minutes, seed }: SoakRun): string {
  const of = (label: string, name: keyof SoakSample) => ({ label, values: samples.map((sample) => sample[name]) });
  const panels: Panel[] = [
    {
      title: "Memory",
      unit: "MiB",
      curves: [of("resident", "residentMib"), of("anonymous", "anonymousMib"), of("pages of files", "fileMib")],
    },
    { title: "Answers to writes, from when they were due", unit: "ms", curves: [of("p50", "writeP50Ms"), of("p99", "writeP99Ms")] },
    { title: "Answers to queries", unit: "ms", curves: [of("p99", "queryP99Ms")] },
    {
      title: "Detection, bytes in to anomaly stored",
      unit: "ms",
      curves: [of("p50", "detectionP50Ms"), of("p99", "detectionP99Ms")],
      note: "upper bounds of the buckets of /metrics",
    },
    { title: "Handles and threads", unit: "count", curves: [of("handles", "handles"), of("threads", "threads")] },
    { title: "Processor", unit: "cores", curves: [of("server, all threads", "cores")] },
    { title: "Streams", unit: "count", curves: [of("streams", "streams")] },
    { title: "Data folder", unit: "MiB", curves: [of("allocated", "dataMib")], note: "grows until retention begins" },
  ];
  const seconds = samples.map((sample) => sample.seconds);
  return drawPanels(
    `Soak: ${minutes} min of mixed load`,
    `one sample a second, seed ${seed}; shaded: the second half, which is judged`,
    seconds,
    panels,
  );
}

const shown = (value: number) => (Number.isNaN(value) ? "-" : String(Math.round(value * 10) / 10));

function summary(
  { samples, minutes, seed, tally, counted }: SoakRun,
  { flatness, isJudged, claims, passed }: SoakVerdict,
  picture: string,
): string {
  const median = (name: keyof SoakSample) =>
    shown(
      quantile(
        samples.map((sample) => sample[name]),
        0.5,
      ),
    );
  const rows = flatness.map(({ what, unit, median: middle, growth, bound, why, holds }) => {
    const verdict = holds ? "flat" : "**not flat**";
    return `| ${what} | ${shown(middle)} ${unit} | ${shown(growth)} ${unit} | ${shown(bound)} ${unit} | ${why} | ${isJudged ? verdict : "not judged"} |`;
  });
  const wrong = [...tally.wrong].map(([what, count]) => `- ${count} x ${what}`);
  return `# Soak, ${new Date().toISOString().slice(0, 10)}: ${passed ? "passed" : "**FAILED**"}

\`make soak SOAK_MINUTES=${minutes} SOAK_SEED=${seed}\` on ${cpus().length} x ${cpus()[0]?.model ?? "unknown"}, Linux ${release()}, Node ${process.version}; the sender shares the machine.
The load and its rates are in \`test/soak/soak-requests.ts\`: ${tally.sent} requests with ${tally.accepted} records, by the server on ${median("cores")} cores (median).

![curves over time](${picture})

## Flat

Growth is the Theil-Sen slope over the second half, times its length.${isJudged ? "" : " This run was too short to be judged: ten minutes are needed."}

| | median | growth | flat up to | why | |
| --- | ---: | ---: | ---: | --- | --- |
${rows.join("\n")}

## Counted

${claims.map(({ what, holds }) => `- ${holds ? "holds" : "**does not hold**"}: ${what}`).join("\n")}
- ${tally.withheld} requests withheld because 500 had no answer; slow readers and writers were cut off ${tally.slowClosed} times; ${tally.eventBytes} bytes of events read
- ${counted.anomalies} anomalies, ${samples.at(-1)?.detections ?? 0} detections timed, ${samples.at(-1)?.streams ?? 0} streams at the end
${wrong.join("\n")}
`;
}
