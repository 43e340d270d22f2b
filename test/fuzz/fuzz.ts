// `make fuzz`: runs every target, or FUZZ_ONLY, over FUZZ_INPUTS inputs from FUZZ_SEED, one process after another. Prints a line for each; ends with 1 when
// one failed. FUZZ_WRITE=1 keeps the summary, seeds for targets that have none, and the inputs that failed.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { loadUwsLibrary } from "../../src/adapters/http/uws/uws-library.ts";
import { wholeNumberSetting } from "../support/whole-number-setting.ts";
import type { CampaignReport } from "./campaign-process.ts";
import { replayLine } from "./replay-line.ts";
import { HTTP_TARGETS, TARGETS } from "./target-list.ts";

const RESULTS = "test/fuzz/results";
const INPUTS_DEFAULT = 1_000_000;
const SETTING_RANGE = { least: 0, most: 9_999_999_999 };

interface Line {
  readonly target: string;
  readonly report: CampaignReport | undefined;
  readonly note: string;
}

/** Runs one target in a process of its own; undefined when that ended without a report. */
async function runTarget(target: string, seed: number, inputs: number, from: number): Promise<CampaignReport | undefined> {
  const file = join(import.meta.dirname, "campaign-process.ts");
  const child = fork(file, [target, seed, inputs, from].map(String), { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  let report: CampaignReport | undefined;
  let output = "";
  child.on("message", (message: CampaignReport) => (report = message));
  child.stdout?.on("data", (text: Buffer) => {
    output += text.toString();
    process.stdout.write(text);
  });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (report === undefined && !output.includes("; replay: ")) {
    const line = replayLine({ target, seed, isHttp: target in HTTP_TARGETS }).replace("REASON", `the process ended with ${code ?? signal}`);
    console.log(line.replace("INDEX", String(from)).replace("FUZZ_INPUTS=1", `FUZZ_INPUTS=${inputs}`).replace("COUNT", String(inputs)));
  }
  return report;
}

function chosenTargets(): string[] {
  const all = [...Object.keys(TARGETS), ...Object.keys(HTTP_TARGETS)];
  const only = process.env.FUZZ_ONLY;
  if (only === undefined || only === "") return all;
  if (!all.includes(only)) throw new RangeError(`FUZZ_ONLY must be one of ${all.join(", ")}, not "${only}"`);
  return [only];
}

function describe({ target, report, note }: Line): string {
  if (report === undefined) return `${target.padEnd(18)} ${note}`;
  const { inputs, accepted, features, seconds } = report;
  const share = inputs === 0 ? 0 : (100 * accepted) / inputs;
  const figures = `${String(inputs).padStart(9)} inputs, ${share.toFixed(0).padStart(3)} % accepted, ${String(features).padStart(5)} features, ${seconds.toFixed(1)} s`;
  return `${target.padEnd(18)} ${figures}${note === "" ? "" : `, ${note}`}`;
}

function writeSummary(lines: readonly Line[], seed: number, seconds: number): void {
  const date = new Date().toISOString().slice(0, 10);
  const rows = lines.map(({ target, report, note }) =>
    report === undefined
      ? `| ${target} | | | | | ${note} |`
      : `| ${target} | ${report.inputs} | ${((100 * report.accepted) / report.inputs).toFixed(1)} % | ${report.features} | ${report.seconds.toFixed(1)} | ${note} |`,
  );
  const text = `# Fuzzing, ${date}

\`make fuzz FUZZ_SEED=${seed}\`, ${seconds.toFixed(0)} s on ${cpus()[0]?.model ?? "an unknown processor"}, Node ${process.versions.node}. An input of an HTTP
adapter is a request that a connection reached. Features are different things that inputs reached: answers, sizes, refusals.

| decoder | inputs | accepted | features | seconds | |
| --- | ---: | ---: | ---: | ---: | --- |
${rows.join("\n")}
`;
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, `${date}.md`), text);
  console.log(`written: ${join(RESULTS, `${date}.md`)}`);
}

async function main(): Promise<void> {
  const seed = wholeNumberSetting("FUZZ_SEED", 1, SETTING_RANGE);
  const inputs = wholeNumberSetting("FUZZ_INPUTS", INPUTS_DEFAULT, SETTING_RANGE);
  const from = wholeNumberSetting("FUZZ_FROM", 0, SETTING_RANGE);
  const lines: Line[] = [];
  const startMs = performance.now();
  const uws = loadUwsLibrary();
  for (const target of chosenTargets()) {
    const skipped = HTTP_TARGETS[target] === "uws" && "reason" in uws ? `skipped: ${uws.reason}` : undefined;
    const report = skipped === undefined ? await runTarget(target, seed, inputs, from) : undefined;
    const line = { target, report, note: skipped ?? (report === undefined ? "FAILED: no report" : report.failed ? "FAILED" : "") };
    lines.push(line);
    console.log(describe(line));
  }
  const seconds = (performance.now() - startMs) / 1000;
  const failed = lines.filter(({ note }) => note.startsWith("FAILED"));
  const total = lines.reduce((sum, { report }) => sum + (report?.inputs ?? 0), 0);
  console.log(`fuzz: seed ${seed}, ${total} inputs of ${lines.length} decoders in ${seconds.toFixed(0)} s, ${failed.length} failed`);
  if (process.env.FUZZ_WRITE === "1") writeSummary(lines, seed, seconds);
  process.exitCode = failed.length > 0 ? 1 : 0;
}

await main().catch((error: unknown) => {
  console.error(`fuzz: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
