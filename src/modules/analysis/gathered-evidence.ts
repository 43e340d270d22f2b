// What the engines tell of an incident, answer by answer, put into an order that does not depend on which engine held what, so that equal strengths rank alike.
import type { EvidenceAnswer, RequestCounts } from "../../core/protocol/evidence.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import type { IncidentEvidence, LineEvidence, OperationEvidence, SeriesEvidence } from "../../domain/rca/evidence.ts";
import { type UnpackedSeries, unpackSeries } from "../../domain/rca/evidence-packing.ts";
import { OperationTotals, operationMinutes } from "../../domain/rca/operation-packing.ts";
import { ownTimesOf, selfTimes } from "../../domain/rca/self-times.ts";
import type { ReportedName } from "../../domain/rca/series-names.ts";
import { NO_TIME } from "../../domain/trace/time-sums.ts";

type CallMinutes = Parameters<typeof selfTimes>[0];

/** Evidence of one scan over all engines. */
export class GatheredEvidence {
  readonly #series: Array<UnpackedSeries<ReportedName>> = [];
  readonly #services = new Set<string>();
  readonly #lines: LineEvidence[] = [];
  readonly #requests: OperationEvidence[] = [];
  readonly #totals = new OperationTotals();

  add(answer: EvidenceAnswer, nameOf: (number: number) => ReportedName | undefined): void {
    for (const one of unpackSeries(answer.numbers, nameOf)) this.#series.push(one);
    for (const serviceId of answer.services) this.#services.add(serviceId);
    this.#lines.push(...answer.lines);
    this.#requests.push(...answer.requests.map(operationOf));
    this.#totals.add(answer.operations, answer.operationNumbers, answer.named);
  }

  /** All of it, with self times of calls where there are none by operation: of services whose spans came before a restart. What only others call has none. */
  evidence(
    calls: CallMinutes,
    wanted: Pick<IncidentEvidence, "onsetMs" | "untilMs">,
  ): Pick<IncidentEvidence, "senders" | "series" | "lines" | "operations"> {
    const series = sorted(this.#series);
    const { services } = this.#totals;
    const traced = new Set(this.#requests.map(({ serviceId }) => serviceId));
    const byCalls = selfTimes(calls, operationMinutes(wanted)).filter(({ serviceId }) => traced.has(serviceId) && !services.has(serviceId));
    const operations = [...this.#requests, ...ownTimesOf([...this.#totals.evidence(), ...byCalls], series)];
    return {
      senders: [...this.#services].sort(),
      series,
      lines: this.#lines.sort(
        (a, b) => compareTexts(a.serviceId, b.serviceId) || compareTexts(a.template, b.template) || a.severity - b.severity,
      ),
      operations: operations.sort((a, b) => compareTexts(a.serviceId, b.serviceId) || compareTexts(a.operation, b.operation)),
    };
  }
}

function sorted(series: Array<UnpackedSeries<ReportedName>>): SeriesEvidence[] {
  return series
    .sort(
      (a, b) =>
        compareTexts(a.name.packed, b.name.packed) ||
        b.one.departure.novelty - a.one.departure.novelty ||
        a.one.departure.mean - b.one.departure.mean,
    )
    .map(({ one }) => one);
}

function operationOf({ serviceId, pastRequests, pastErrors, requests, errors }: RequestCounts): OperationEvidence {
  const past = pastRequests.map((spans, i) => ({ spans, errors: pastErrors[i] ?? 0, self: NO_TIME }));
  return { serviceId, operation: "", isEntry: true, past, now: { spans: requests, errors, self: NO_TIME } };
}
