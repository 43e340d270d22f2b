// node --import ./scripts/typescript-loader.mjs test/eval/rca/rca-eval.ts FOLDER: root causes of FOLDER/rca, by the function that the coordinator calls.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Analysis, analyse } from "../../../src/domain/rca/analysis.ts";
import { type Row, rowsText } from "../rows.ts";
import { scoredToFile } from "../scorer.ts";
import { type EvaluatedCase, readCases } from "./cases.ts";
import { leaveOneOut, type SignedCase } from "./leave-one-out.ts";
import { simpleRuleRows } from "./simple-rules.ts";

/** Systems, with bar and goal of AC@1 and Avg@5. */
const SYSTEMS = [
  { name: "nezha-ob", prefix: "nezha-ob", bars: [0.75, 0.82], goals: [0.9, 0.92] },
  { name: "nezha-tt", prefix: "nezha-tt", bars: [0.75, 0.88], goals: [0.9, 0.93] },
  { name: "petshop", prefix: "petshop", bars: [0.69, 0.9], goals: [0.81, 0.93] },
] as const;

const folder = process.argv[2] === undefined ? undefined : join(process.argv[2], "rca");
if (folder !== undefined && existsSync(join(folder, "cases.json"))) report(folder);

function report(of: string): void {
  const analysed = readCases(of).map((each) => ({ each, analysis: analyse(each.evidence) }));
  const out = mkdtempSync(join(tmpdir(), "rca-eval-"));
  try {
    const rows = [...rankingRows(of, out, analysed), ...ruleRows(analysed), ...reportRows(of, out, analysed), ...similarRows(analysed)];
    console.log(rowsText(rows));
  } finally {
    rmSync(out, { recursive: true });
  }
}

interface Analysed {
  readonly each: EvaluatedCase;
  readonly analysis: Analysis;
}

function rankingRows(of: string, out: string, analysed: readonly Analysed[]): Row[] {
  const ranks = join(out, "ranks.json");
  writeFileSync(ranks, JSON.stringify(Object.fromEntries(analysed.map(({ each, analysis }) => [each.id, rankingOf(analysis)]))));
  return SYSTEMS.flatMap(({ name, prefix, bars, goals }): Row[] => {
    const args = ["--cases", join(of, "cases.json"), "--pred", ranks, "--only", prefix];
    const { all } = scoredToFile<{ all?: Record<string, number> }>("score_rca.py", args, out);
    if (all === undefined) return [];
    return [
      { data: name, measure: "AC@1", value: all["AC@1"]!, bar: bars[0], goal: goals[0] },
      { data: name, measure: "Avg@5", value: all["Avg@5"]!, bar: bars[1], goal: goals[1] },
    ];
  });
}

/** Simple rules over the same evidence, by system. */
function ruleRows(analysed: readonly Analysed[]): Row[] {
  return SYSTEMS.flatMap(({ name, prefix }) => {
    const cases = analysed.map(({ each }) => each).filter(({ system }) => system.startsWith(prefix));
    return simpleRuleRows(name, cases);
  });
}

function rankingOf({ candidates }: Analysis): string[] {
  return candidates.map(({ serviceId }) => serviceId);
}

type ReportScores = Record<string, Record<string, number>>;

function reportRows(of: string, out: string, analysed: readonly Analysed[]): Row[] {
  const reports = join(out, "reports.json");
  const reported = analysed.map(({ each, analysis }) => {
    const { category, confidence, enough } = analysis;
    return [each.id, { ranking: rankingOf(analysis), category, confidence, enough }];
  });
  writeFileSync(reports, JSON.stringify(Object.fromEntries(reported)));
  const args = ["--cases", join(of, "cases.json"), "--quiet", join(of, "quiet.json"), "--reports", reports];
  const scores = scoredToFile<ReportScores>("score_rca_reports.py", args, out);
  const all = scores.all!;
  return [
    { data: "nezha", measure: "quiet windows: not enough evidence", value: all.quiet_abstained!, bar: 0.8, goal: 0.95 },
    { data: "nezha", measure: "faults: not enough evidence", value: all.faults_abstained!, bar: 0.15, goal: 0.05, less: true },
    ...["nezha-ob", "nezha-tt"].map((data) => ({
      data,
      measure: "category, mean of classes",
      value: scores[data]!.category_by_class!,
      bar: 0.7,
      goal: 0.85,
    })),
    { data: "nezha", measure: "Brier score / base rate's", value: all.brier! / all.brier_base!, bar: 0.9, goal: 0.75, less: true },
    { data: "nezha", measure: "calibration error", value: all.calibration_error!, less: true },
  ];
}

function similarRows(analysed: readonly Analysed[]): Row[] {
  const signed: SignedCase[] = analysed
    .filter(({ each }) => each.truth !== null && each.system.startsWith("nezha"))
    .map(({ each, analysis }) => ({ faultType: each.faultType ?? "", truth: each.truth ?? "", signature: analysis.signature }));
  return [
    { data: "nezha", measure: "most similar: same fault type", value: leaveOneOut(signed, () => true), bar: 0.65, goal: 0.8 },
    {
      data: "nezha",
      measure: "most similar of other services: same fault type",
      value: leaveOneOut(signed, (a, b) => a.truth !== b.truth),
      bar: 0.6,
      goal: 0.75,
    },
  ];
}
