// Three or more services joined by the call graph that fall within five minutes are one alert with members (decisions, section 2), on the
// service that the others most likely fail because of: callers suffer from those whom they call.
import { groupBy } from "../../core/collections/grouping.ts";
import { atLeast, atMost, type GateResult } from "../detection/gates/gate-result.ts";

const WINDOW_MS = 300_000;
/** Services that make a cascade. */
export const CASCADE_SERVICES_MIN = 3;

/** An open episode of a service, which may have several: what it has had for long says nothing of what it falls with now. */
export interface ServiceOnset {
  readonly serviceId: string;
  readonly onsetMs: number;
}

export interface Call {
  readonly caller: string;
  readonly callee: string;
}

export interface Cascade {
  /** Most likely cause: calls none of the others, or least of all; the earliest of these. */
  readonly root: string;
  /** All services, the root included, by onset. */
  readonly members: readonly string[];
  readonly firstOnsetMs: number;
  /** Share of the calls among members whose callee fell no later than its caller. */
  readonly orderedShare: number;
  readonly gates: readonly GateResult[];
}

/** Cascades among the open episodes of one tenant and environment, each service in one at most; largest first. */
export function findCascades(onsets: readonly ServiceOnset[], calls: readonly Call[]): Cascade[] {
  let left = [...onsets].sort(byOnset);
  const callees = groupBy(calls, ({ caller }) => caller);
  const found: Cascade[] = [];
  for (;;) {
    const group = largestGroup(left, callees);
    if (group.length < CASCADE_SERVICES_MIN) return found;
    found.push(cascadeOf(group, calls));
    const taken = new Set(group.map(({ serviceId }) => serviceId));
    left = left.filter(({ serviceId }) => !taken.has(serviceId));
  }
}

/** The calls of each caller. */
type CallsOf = ReadonlyMap<string, readonly Call[]>;

/** The largest connected group whose onsets lie within the window; of equals the earliest. None where no window has as many services as make a cascade. */
function largestGroup(onsets: readonly ServiceOnset[], callees: CallsOf): readonly ServiceOnset[] {
  let best: readonly ServiceOnset[] = [];
  let to = 0;
  onsets.forEach((first, from) => {
    const before = to;
    while (to < onsets.length && (onsets[to] as ServiceOnset).onsetMs - first.onsetMs <= WINDOW_MS) to++;
    // A window that ends where the one before did holds nothing that the other did not.
    if (from > 0 && to === before) return;
    const services = earliest(onsets.slice(from, to));
    if (services.length <= best.length || services.length < CASCADE_SERVICES_MIN) return;
    for (const group of components(services, callees)) if (group.length > best.length) best = group;
  });
  return best;
}

/** The first onset of each service, of those in order. */
function earliest(onsets: readonly ServiceOnset[]): ServiceOnset[] {
  const first = new Map<string, ServiceOnset>();
  for (const onset of onsets) if (!first.has(onset.serviceId)) first.set(onset.serviceId, onset);
  return [...first.values()];
}

function components(onsets: readonly ServiceOnset[], callees: CallsOf): ServiceOnset[][] {
  const group = new Map<string, ServiceOnset[]>(onsets.map((one) => [one.serviceId, [one]]));
  for (const { caller, callee } of onsets.flatMap(({ serviceId }) => callees.get(serviceId) ?? [])) {
    const one = group.get(caller);
    const other = group.get(callee);
    if (one === undefined || other === undefined || one === other) continue;
    const [larger, smaller] = one.length >= other.length ? [one, other] : [other, one];
    larger.push(...smaller);
    for (const { serviceId } of smaller) group.set(serviceId, larger);
  }
  return [...new Set(group.values())];
}

function cascadeOf(group: readonly ServiceOnset[], calls: readonly Call[]): Cascade {
  const members = [...group].sort(byOnset);
  const onset = new Map(members.map(({ serviceId, onsetMs }) => [serviceId, onsetMs]));
  const inner = calls.filter(({ caller, callee }) => caller !== callee && onset.has(caller) && onset.has(callee));
  const calledBy = groupBy(inner, ({ caller }) => caller);
  const counts = new Map(members.map(({ serviceId }) => [serviceId, new Set(calledBy.get(serviceId)?.map(({ callee }) => callee)).size]));
  const callees = (serviceId: string): number => counts.get(serviceId) as number;
  const [root] = [...members].sort((a, b) => callees(a.serviceId) - callees(b.serviceId) || byOnset(a, b)) as [ServiceOnset];
  const [first] = members as [ServiceOnset];
  const last = members[members.length - 1] as ServiceOnset;
  const ordered = inner.filter(({ caller, callee }) => (onset.get(callee) as number) <= (onset.get(caller) as number));
  return {
    root: root.serviceId,
    members: members.map(({ serviceId }) => serviceId),
    firstOnsetMs: first.onsetMs,
    orderedShare: ordered.length / inner.length,
    gates: [
      atLeast("cascade_services", members.length, CASCADE_SERVICES_MIN),
      atMost("cascade_window_ms", last.onsetMs - first.onsetMs, WINDOW_MS),
    ],
  };
}

function byOnset(a: ServiceOnset, b: ServiceOnset): number {
  return a.onsetMs - b.onsetMs || (a.serviceId < b.serviceId ? -1 : 1);
}
