// What analyses incidents: the gathering of evidence, which questions of people use too, and the runner of analyses that are due.
import { AnalysisRunner, type AnalysisRunnerDependencies } from "./analysis-runner.ts";
import { type EvidenceDependencies, EvidenceGathering, type EvidencePosition } from "./evidence-gathering.ts";
import { ThreadTime } from "./thread-time.ts";

type Dependencies = Omit<AnalysisRunnerDependencies, "gathering" | "shares" | "time"> & Pick<EvidenceDependencies, "engines" | "state">;

/** Both, for one coordinator. */
export function makeAnalysis(dependencies: Dependencies): { readonly gathering: EvidenceGathering; readonly runner: AnalysisRunner } {
  const { state, engines, yieldToLoop } = dependencies;
  const time = new ThreadTime(dependencies);
  const shares = state.shares.ledger("evidence_questions");
  const changes = ({ tenant, environment }: EvidencePosition) => state.analyses.changes.of(tenant, environment);
  const gathering = new EvidenceGathering({ state, engines, changes, yieldToLoop, time, shares });
  return { gathering, runner: new AnalysisRunner({ ...dependencies, gathering, time, shares: state.shares.ledger("running_incidents") }) };
}
