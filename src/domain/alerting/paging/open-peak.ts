// An alert speaks of what is open in it: where the anomaly that stands for it ends, the highest of those that go on takes its place. Its severity stays what people know.
import type { Ending } from "../../anomaly/ending.ts";
import { type Alert, type AlertChange, hasUpdatesLeft, peakOf, withChange } from "./alert.ts";
import { endText } from "./end-text.ts";
import { type Finding, labelsOf } from "./finding.ts";
import type { PagingMemory } from "./paging-memory.ts";

/** The finding of an open anomaly, as raised; undefined where it has ended. */
export type OpenFindings = (anomalyId: string) => Finding | undefined;

interface MemberEnd {
  readonly anomalyId: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly atMs: number;
  readonly ending: Ending;
}

/** The alert as it speaks once a member has ended: as before, where that did not stand for it. */
export function withOpenPeak(alert: Alert, end: MemberEnd, openFindings: OpenFindings, memory: PagingMemory): Alert {
  if (alert.peak.anomalyId !== end.anomalyId) return alert;
  const next = highestOpen(alert, end.anomalyId, openFindings, memory);
  if (next === undefined) return alert;
  const { tier } = alert.state;
  const of = { atMs: end.atMs, tier, by: end.ending.person };
  const change: AlertChange = hasUpdatesLeft(alert)
    ? { ...of, kind: "member_ended", note: endNote(alert, end, next), metricName: end.metricName }
    : { ...of, kind: "updated", note: null };
  return withChange({ ...alert, peak: peakOf(next), labels: labelsOf(next, tier) }, change);
}

function highestOpen({ members, state }: Alert, endedId: string, openFindings: OpenFindings, memory: PagingMemory): Finding | undefined {
  const open = members.flatMap(({ anomalyId }) => (anomalyId === endedId ? [] : (openFindings(anomalyId) ?? [])));
  const own = open.filter(({ alertId }) => alertId !== null && memory.current(alertId)?.state.id === state.id);
  return own.sort((one, other) => Math.abs(other.z) - Math.abs(one.z) || (one.anomalyId < other.anomalyId ? -1 : 1))[0];
}

function endNote({ peak }: Alert, { serviceId, metricName, ending }: MemberEnd, next: Finding): string {
  return `${metricName} of ${serviceId} ${endText(ending, peak)}; the alert goes on with ${next.metricName} of ${next.serviceId}`;
}
