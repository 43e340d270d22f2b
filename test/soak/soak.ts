// `make soak`: SOAK_MINUTES (20) of mixed load from SOAK_SEED against the built server, one look a second, a line each ten seconds; ends with 1 when
// something was lost, answered wrongly or not flat. Page and picture go to native-bench/results.
import { parseExposition } from "../support/exposition.ts";
import { ServerBench } from "../support/server-process.ts";
import { wholeNumberSetting } from "../support/whole-number-setting.ts";
import { ProcessSampler, type SoakSample, sumOf } from "./process-sampler.ts";
import { SoakLoad } from "./soak-load.ts";
import { judgeSoak, type SoakRun, writeSoak } from "./soak-report.ts";

const SAMPLE_MS = 1_000;
const PROGRESS_SECONDS = 10;
const SETTING_RANGE = { least: 1, most: 999_999_999 };
/** After the last request: for what still travels to be counted. */
const SETTLE_MS = 3_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function metricsPage(origin: string): Promise<string> {
  return (await fetch(`${origin}/metrics`)).text();
}

async function counts(origin: string): Promise<SoakRun["counted"]> {
  const families = parseExposition(await metricsPage(origin));
  const events = families.get("svc_ingestion_events_total");
  return {
    accepted: sumOf(events, { status: "accepted" }),
    rejected: sumOf(events, { status: "rejected" }),
    anomalies: sumOf(families.get("vedette_anomalies_stored_total")),
  };
}

function progress(sample: SoakSample, load: SoakLoad): void {
  const whole = (value: number) => (Number.isNaN(value) ? "-" : value.toFixed(0));
  const wrong = [...load.tally.wrong.values()].reduce((sum, count) => sum + count, 0);
  const memory = `resident ${whole(sample.residentMib)} MiB (anonymous ${whole(sample.anonymousMib)})`;
  const times = `write p50 ${whole(sample.writeP50Ms)} p99 ${whole(sample.writeP99Ms)} ms, detection p99 ${whole(sample.detectionP99Ms)} ms`;
  console.log(
    `${whole(sample.seconds).padStart(5)} s  ${memory}, ${sample.handles} handles, ${sample.cores.toFixed(2)} cores, ${times}, ${load.tally.acknowledged} acknowledged, ${wrong} wrong`,
  );
}

/** Samples until the time is over. */
async function watch(sampler: ProcessSampler, load: SoakLoad, origin: string, seconds: number): Promise<SoakSample[]> {
  const samples: SoakSample[] = [];
  const startMs = performance.now();
  for (let next = 1; next <= seconds; next++) {
    await pause(startMs + next * SAMPLE_MS - performance.now());
    const sample = sampler.sample(await metricsPage(origin), load.takeTimes());
    samples.push(sample);
    if (next % PROGRESS_SECONDS === 0) progress(sample, load);
  }
  return samples;
}

async function main(): Promise<void> {
  const minutes = wholeNumberSetting("SOAK_MINUTES", 20, SETTING_RANGE);
  const seed = wholeNumberSetting("SOAK_SEED", 1, SETTING_RANGE);
  const bench = new ServerBench();
  try {
    const dataDir = bench.dataFolder();
    const server = await bench.start({ DATA_DIR: dataDir, ENGINES: "1" });
    const before = await counts(server.origin);
    const load = new SoakLoad(server.origin, seed);
    const sampler = new ProcessSampler(server.pid, dataDir);
    console.log(`soak: ${minutes} min, seed ${seed}`);
    load.start();
    const samples = await watch(sampler, load, server.origin, minutes * 60);
    await load.stop();
    await pause(SETTLE_MS);
    const after = await counts(server.origin);
    await server.stop();
    const counted = {
      accepted: after.accepted - before.accepted,
      rejected: after.rejected - before.rejected,
      anomalies: after.anomalies - before.anomalies,
    };
    const run = { seed, minutes, samples, tally: load.tally, counted };
    const verdict = judgeSoak(run);
    for (const { what, growth, bound, unit, holds } of verdict.flatness) {
      console.log(
        `${verdict.isJudged ? (holds ? "flat     " : "NOT FLAT ") : "         "}${what}: grew by ${growth.toFixed(2)} ${unit} over the second half, up to ${bound.toFixed(2)} is flat`,
      );
    }
    for (const { what, holds } of verdict.claims) console.log(`${holds ? "holds    " : "FAILS    "}${what}`);
    for (const [what, count] of load.tally.wrong) console.log(`         ${count} x ${what}`);
    console.log(
      `soak: ${verdict.passed ? "passed" : "FAILED"}${verdict.isJudged ? "" : " (too short to judge flatness)"}; ${writeSoak(run, verdict)}`,
    );
    process.exitCode = verdict.passed ? 0 : 1;
  } finally {
    await bench.close();
  }
}

await main().catch((error: unknown) => {
  console.error(`soak: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
process.exit();
