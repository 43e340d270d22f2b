// The signature of an incident: numbers by which similar ones are found, whichever services they were in. Blocks: what the cause's own metrics did by kind,
// what its surroundings did, what its lines and spans did. Each number is between -1 and 1, so that 40 of them fit into 40 bytes.
import type { IncidentEvidence } from "./evidence.ts";
import { KINDS } from "./novelty-table.ts";
import type { RankedService, Ranking } from "./ranking.ts";

/** Numbers of a signature: 10 kinds of the cause, 10 of the middle of its callers, and 20 more. */
export const SIGNATURE_LENGTH = 40;
export type IncidentSignature = Float32Array;

/** Strengths are taken by ln(1 + x) / this. */
const LOG_FULL = 3.5;
const WARN = 4;
const ERROR = 5;

/** Meaning of each number, in words. */
export const signatureMeanings: readonly string[] = [
  ...KINDS.map((kind) => `${kind} of the cause departs`),
  ...KINDS.map((kind) => `${kind} of its callers departs`),
  "its callers wait for it",
  "its callers show its symptoms",
  "the cause fell silent",
  "a resource of the cause is near its end",
  "a change came before",
  "the cause logs errors",
  "the cause logs warnings",
  "the cause logs new lines",
  "lines of the cause stop",
  "others log errors",
  "lines of others stop",
  "the cause takes longer by itself",
  "the cause fails by itself",
  "time is lost on the way to the cause",
  "a peer outside is slow",
  "most operations of the cause are slower",
];

/** The signature of what the first candidate shows. */
export function signatureOf(ranking: Ranking, evidence: IncidentEvidence, first: RankedService | undefined): IncidentSignature {
  const signature = new Float32Array(SIGNATURE_LENGTH);
  if (first === undefined) return signature;
  const { table } = ranking.metrics;
  const own = table.numberOf(first.serviceId);
  const callers = evidence.edges.filter(([, callee]) => callee === first.serviceId).map(([caller]) => table.numberOf(caller));
  KINDS.forEach((kind, i) => {
    if (own !== undefined) signature[i] = scaled(table.novelty(own, kind, 0));
    const around = callers.filter((caller) => caller !== undefined).map((caller) => table.novelty(caller!, kind, 0));
    signature[KINDS.length + i] = scaled(Math.max(0, ...around));
  });
  signature.set([...metricNumbers(first), ...lineNumbers(ranking, first), ...spanNumbers(ranking, first)], 2 * KINDS.length);
  return signature;
}

function metricNumbers({ metrics, silent, saturated, change }: RankedService): number[] {
  return [
    scaled(metrics?.feltByCallers ?? 0),
    scaled(metrics?.explained ?? 0),
    silent ? 1 : 0,
    saturated ? 1 : 0,
    change === undefined ? 0 : 1,
  ];
}

/** Lines of the cause and of the others, by what became of them. */
function lineNumbers({ lines }: Ranking, { serviceId }: RankedService): number[] {
  const most = (isOwn: boolean, matches: (severity: number, isMore: boolean) => boolean) =>
    scaled(
      lines.reduce((strongest, line) => {
        const isMore = line.change === "appeared" || line.change === "more";
        return (line.serviceId === serviceId) === isOwn && matches(line.severity, isMore) ? Math.max(strongest, line.strength) : strongest;
      }, 0),
    );
  return [
    most(true, (severity, isMore) => isMore && severity >= ERROR),
    most(true, (severity, isMore) => isMore && severity === WARN),
    most(true, (severity, isMore) => isMore && severity < WARN),
    most(true, (_, isMore) => !isMore),
    most(false, (severity, isMore) => isMore && severity >= ERROR),
    most(false, (_, isMore) => !isMore),
  ];
}

function spanNumbers({ spans, slowShare }: Ranking, { serviceId }: RankedService): number[] {
  const most = (kind: string) =>
    scaled(
      spans.reduce(
        (strongest, span) => (span.serviceId === serviceId && span.kind === kind ? Math.max(strongest, span.strength) : strongest),
        0,
      ),
    );
  return [most("self_time"), Math.max(most("origin_errors"), most("peer_errors")), most("call_gap"), most("peer"), slowShare(serviceId)];
}

function scaled(strength: number): number {
  return Math.min(1, Math.log1p(strength) / LOG_FULL);
}
