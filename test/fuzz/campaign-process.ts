// A process that runs one target: campaign-process.ts <target> <seed> <inputs> <from>. Its answer goes to its parent as one message; what it prints is the
// one line of a finding. A process for each, so that a crash of native code or an endless loop is one target's.
import { Worker } from "node:worker_threads";
import type { CampaignOptions, CampaignResult } from "./campaign.ts";
import { runCampaign } from "./campaign.ts";
import { readCorpus, writeRegression, writeSeeds } from "./corpus.ts";
import { runHttpCampaign } from "./http/http-campaign.ts";
import { replayLine } from "./replay-line.ts";
import { HTTP_CORPUS, HTTP_TARGETS, TARGETS } from "./target-list.ts";

/** What a process tells its parent. */
export type CampaignReport = Pick<CampaignResult, "inputs" | "accepted" | "features"> & {
  readonly failed: boolean;
  readonly seconds: number;
};

const [name = "", seedText = "1", inputsText = "0", fromText = "0"] = process.argv.slice(2);
const [seed, inputs, from] = [Number(seedText), Number(inputsText), Number(fromText)];
const writes = process.env.FUZZ_WRITE === "1";
const http = HTTP_TARGETS[name];
const corpusName = http === undefined ? name : HTTP_CORPUS;
const startMs = performance.now();

function watchForStalls(): Int32Array {
  const progress = new SharedArrayBuffer(4);
  const [before, after] = replayLine({ target: name, seed, isHttp: http !== undefined }).split("REASON");
  const watch = new Worker(new URL("./stall-watch.mjs", import.meta.url), { workerData: { progress, before, after }, execArgv: [] });
  watch.unref();
  return new Int32Array(progress);
}

async function run(): Promise<CampaignResult> {
  const progress = watchForStalls();
  const corpus = readCorpus(corpusName).map(({ input }) => input);
  const options: CampaignOptions = { seed, inputs, corpus, onInput: (index) => Atomics.store(progress, 0, index) };
  if (http !== undefined) return runHttpCampaign(http, { ...options, from });
  const make = TARGETS[name];
  if (make === undefined) throw new Error(`no target is called ${name}`);
  return runCampaign(make(), options);
}

// Refusals by exception would spend most of their time on their stacks.
if (process.env.FUZZ_VERBOSE !== "1") Error.stackTraceLimit = 0;
const result = await run();
const { finding } = result;
if (finding !== undefined) {
  const reason =
    finding.error instanceof Error ? finding.error.message : String((finding.error as { message?: unknown }).message ?? finding.error);
  const line = replayLine({ target: name, seed, isHttp: http !== undefined }).replace("REASON", () =>
    reason.replaceAll("\n", " ").slice(0, 300),
  );
  console.log(line.replace("INDEX", String(finding.index)).replace("COUNT", String(finding.index + 1)));
  if (process.env.FUZZ_VERBOSE === "1") console.log(finding.error);
  if (writes) writeRegression(corpusName, seed, finding.index, finding.input);
} else if (writes && http === undefined) writeSeeds(corpusName, result.kept);
const { inputs: tried, accepted, features } = result;
const report: CampaignReport = {
  inputs: tried,
  accepted,
  features,
  failed: finding !== undefined,
  seconds: (performance.now() - startMs) / 1000,
};
process.send?.(report, () => process.exit(finding === undefined ? 0 : 1));
