// Systems made to order for the analysis of causes: a chain or a tree of services with names, intervals, depth and noise of their own, and one fault in one of them.
// What it takes by itself grows with its processor or for no reason that is sent; all that call it wait, and fill threads and connections meanwhile.
import { departureOf } from "../../src/domain/rca/departure.ts";
import type { IncidentEvidence, SeriesEvidence } from "../../src/domain/rca/evidence.ts";
import { ringWindows } from "../../src/domain/rca/ring-windows.ts";

const ONSET = Date.UTC(2026, 0, 5, 10);
const RING = 120;
const WORDS = ["cart", "falcon", "billing", "Ledger", "svc-007", "com.shop.geo", "media-api", "quota", "heron", "stock"];
const METRICS = [
  { latency: "latency_ms", cpu: "cpu_percent", threads: "threads", calls: "outbound_call_ms" },
  { latency: "ResponseTimeP95", cpu: "CPUUtilization", threads: "ThreadCount", calls: "OutboundLatency" },
  { latency: "timers.request.upper_95", cpu: "sys.cpu.busy", threads: "runtime.threads", calls: "client.call.time_ms" },
] as const;

/** What is made. */
export interface GeneratedIncident {
  readonly evidence: IncidentEvidence;
  readonly cause: string;
}

export interface IncidentShape {
  readonly seed: number;
  /** Minutes before the onset that are known. */
  readonly historyMinutes: number;
  readonly hasFault: boolean;
  /** Whether services say how long they wait for whom they call. */
  readonly hasCalls: boolean;
  /** Whether more is sent than how long requests take. */
  readonly hasResources: boolean;
}

/** An incident; equal shapes make equal ones. */
export function generatedIncident({ seed, historyMinutes, hasFault, hasCalls, hasResources }: IncidentShape): GeneratedIncident {
  const random = mulberry(seed);
  const names = shuffled(WORDS, random).slice(0, 4 + Math.floor(random() * 5));
  const metrics = METRICS[Math.floor(random() * METRICS.length)]!;
  // Each is called by one before it: a chain where that is always the last.
  const callers = names.map((_, i) => (i === 0 ? -1 : random() < 0.5 ? i - 1 : Math.floor(random() * i)));
  const fault = 1 + Math.floor(random() * (names.length - 1));
  const slower = 2 + 3 * random();
  const waits = names.map((_, i) => hasFault && i !== fault && reaches(callers, fault, i));
  const intervalMs = [10_000, 15_000, 30_000][Math.floor(random() * 3)]!;
  const noise = 0.02 + 0.06 * random();
  const series: SeriesEvidence[] = [];
  names.forEach((serviceId, i) => {
    const make = (metricName: string, level: number, factor: number, peer: string | null = null) => {
      const made = seriesOf({ serviceId, metricName, peer, level, factor, noise, intervalMs, historyMinutes }, random);
      if (made !== undefined) series.push(made);
    };
    const isFault = hasFault && i === fault;
    make(metrics.latency, 20 + 200 * random(), isFault ? slower : waits[i] ? 1.5 + random() : 1);
    if (hasResources) make(metrics.cpu, 20 + 20 * random(), isFault ? 2.2 : 1);
    if (hasResources) make(metrics.threads, 40, waits[i] || isFault ? 1.6 : 1);
    if (!hasCalls) return;
    names.forEach((callee, of) => {
      if (callers[of] === i) make(metrics.calls, 30, hasFault && (of === fault || waits[of]) ? slower : 1, callee);
    });
  });
  const target = { serviceId: names[0]!, metricName: metrics.latency };
  const evidence = {
    onsetMs: ONSET,
    untilMs: ONSET + 180_000,
    target,
    senders: names,
    members: [names[0]!],
    series: shuffled(series, random),
  };
  return { evidence: { ...evidence, ...NOTHING_ELSE }, cause: names[fault]! };
}

const NOTHING_ELSE = { lines: [], operations: [], calls: [], edges: [], changes: [], saturated: [], silent: [] };

/** Whether a service waits for the fault, over whatever lies between. */
function reaches(callers: readonly number[], fault: number, service: number): boolean {
  for (let at = fault; at >= 0; at = callers[at]!) if (at === service) return true;
  return false;
}

interface SeriesShape extends Pick<SeriesEvidence, "serviceId" | "metricName" | "peer" | "intervalMs"> {
  readonly level: number;
  readonly factor: number;
  readonly noise: number;
  readonly historyMinutes: number;
}

function seriesOf(shape: SeriesShape, random: () => number): SeriesEvidence | undefined {
  const { serviceId, metricName, peer, intervalMs, level, factor, noise, historyMinutes } = shape;
  const before = Math.min(RING - 1, Math.floor((historyMinutes * 60_000) / intervalMs));
  const since = Math.floor(180_000 / intervalMs);
  const count = Math.min(RING, before + since);
  const times = Float64Array.from({ length: count }, (_, i) => ONSET + (i - count + since) * intervalMs);
  const values = Float64Array.from(times, (time) => {
    const grown = time < ONSET ? 1 : 1 + (factor - 1) * Math.min(1, (time - ONSET + intervalMs) / 40_000);
    const outlier = time < ONSET && random() < 0.02 ? 2 : 1;
    return level * grown * outlier * Math.exp(noise * normal(random));
  });
  const cut = ringWindows(times, values, count, { onsetMs: ONSET, untilMs: ONSET + 180_000 });
  const departure = cut && departureOf(cut);
  if (cut === undefined || departure === undefined) return undefined;
  return { serviceId, metricName, instance: null, node: null, peer, departure, onsetMs: times[cut.start + departure.onsetAt]!, intervalMs };
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const own = [...list];
  for (let i = own.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [own[i], own[j]] = [own[j]!, own[i]!];
  }
  return own;
}

function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
