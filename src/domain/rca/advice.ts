// What to say of an analysis and what to do about it: sentences by rule, from names, numbers and masked templates.
import type { Analysis } from "./analysis.ts";
import { meaningOf } from "./metric-kind.ts";

/** Analysis as sentences need it; the signature is for machines. */
type Said = Omit<Analysis, "signature">;

const NEARLY_CERTAIN = 0.995;
const CONFIDENCE_SHOWN_MAX = 0.999;

/** One or two sentences. */
export function summaryOf({ enough, candidates, category, confidence, firstSymptom, impact, lookedAt }: Said): string {
  const [first] = candidates;
  if (!enough || first === undefined) {
    const { services, series, lines, calls, changes } = lookedAt;
    const looked = `looked at ${series} series and ${lines} log lines of ${services} services, ${calls} calls, ${changes} changes`;
    const nearest = first === undefined ? "" : `; nearest: ${first.serviceId}`;
    return `Not enough evidence for a cause: ${looked}${nearest}`;
  }
  const where = first.instance === null ? first.serviceId : `${first.serviceId} (${first.instance})`;
  const why = first.evidence[0]?.text ?? first.metricName;
  const symptom = firstSymptom === null ? "" : ` First symptom: ${firstSymptom.metricName} of ${firstSymptom.serviceId}.`;
  const suffering =
    impact.length === 0
      ? ""
      : ` Affected: ${impact
          .slice(0, 5)
          .map(({ serviceId }) => serviceId)
          .join(", ")}.`;
  return `${where}, ${category} (confidence ${confidenceText(confidence)}): ${why}.${symptom}${suffering}`;
}

/** Two digits, and three where they would say that it is certain. */
function confidenceText(confidence: number): string {
  return confidence < NEARLY_CERTAIN ? confidence.toFixed(2) : Math.min(confidence, CONFIDENCE_SHOWN_MAX).toFixed(3);
}

/** Whether two summaries name one cause: who it is and of what kind, whatever is said of it. */
export function isSameCause(one: string, other: string): boolean {
  const subjectOf = (summary: string) => summary.slice(0, summary.indexOf(" (confidence "));
  return subjectOf(one) === subjectOf(other);
}

/** Facts that a language model is given to word: the same sentences, and all evidence. */
export function factsOf(said: Said): string {
  const [first] = said.candidates;
  const evidence = (first?.evidence ?? []).map(({ text }) => `- ${text}`);
  return [summaryOf(said), "Evidence:", ...evidence].join("\n");
}

/** Where a slow third party, load, a change and each resource lead. */
const BY_KIND: Readonly<Record<string, string>> = {
  cpu: "see what uses the processor; raise its limit or add instances",
  memory: "compare its memory with that before; look for a leak, restart it or raise its limit",
  disk: "free or add disk space; see what writes",
  network: "look at the network of its instance: loss, delay, policies",
  pool: "see what holds its connections or threads; raise the pool or shed load",
};

function undoing(serviceId: string, change: string): string {
  return change.startsWith("a deployment")
    ? `roll ${serviceId} back to the version before its last deployment`
    : `undo ${change}, of ${serviceId}`;
}

/** Actions to take, the most likely first; `resolution` is what helped in the most similar incident. */
export function suggestedActions({ enough, candidates, category }: Said, resolution: string | null): string[] {
  const [first] = candidates;
  if (!enough || first === undefined) return ["look at the candidates' evidence; there is no cause that stands out"];
  const actions = resolution === null ? [] : [`what helped in a similar incident: ${resolution}`];
  const has = (source: string) => first.evidence.some((item) => item.source === source);
  const change = first.evidence.find(({ source }) => source === "change");
  if (change !== undefined) actions.push(undoing(first.serviceId, change.text));
  if (has("load")) actions.push(`add instances, or limit requests at ${first.serviceId}`);
  if (category === "external" && !has("load"))
    actions.push(`see the status of ${first.serviceId}; shorten timeouts, open the circuit breaker, serve without it`);
  if (has("silence")) actions.push(`see whether ${first.serviceId} runs; restart it`);
  const advice = BY_KIND[meaningOf(first.metricName).kind];
  if (category === "infrastructure" && advice !== undefined) actions.push(`${first.serviceId}: ${advice}`);
  if (has("log")) actions.push(`read the logs of ${first.serviceId} around the lines named in the evidence`);
  if (has("span")) actions.push(`profile the operations of ${first.serviceId} named in the evidence`);
  return actions.length === 0 ? [`look at ${first.serviceId} first`] : actions;
}
