// node --import ./scripts/typescript-loader.mjs test/eval/rca/rca-cost.ts: the processor's time that one analysis takes, of 200 services of 40 series: what engines do
// with their rings, what the coordinator reads of it, and the analysis. Processor time of this process, so that waiting does not count; of several looks the middle and the least, since neighbours
// on a core make the same work longer.
import { pathToFileURL } from "node:url";
import { analyse } from "../../../src/domain/rca/analysis.ts";
import { departureOf } from "../../../src/domain/rca/departure.ts";
import type { IncidentEvidence, SeriesEvidence } from "../../../src/domain/rca/evidence.ts";
import { SeriesPacker, type SeriesToPack, unpackSeries } from "../../../src/domain/rca/evidence-packing.ts";
import { ringWindows } from "../../../src/domain/rca/ring-windows.ts";
import { type Generator, generator } from "../../support/generator.ts";
import { type Row, rowsText } from "../rows.ts";

const SERVICES = 200;
const SERIES = 40;
/** Values of a ring. */
const VALUES = 120;
const INTERVAL_MS = 15_000;
const ONSET_MS = Date.UTC(2026, 0, 5, 10);
/** The look a minute behind the onset, and the one five minutes behind it, whose windows are long enough for history to be short. */
const LOOKS_MS = [60_000, 300_000];
const REPEATS = 15;
/** The first ones meet code that is not compiled yet. */
const WARM_UP = 3;
const KINDS = ["latency_ms", "errors", "requests", "cpu_percent", "memory_percent", "threads", "connections_in_use", "disk_percent"];
const BAR_MS = 50;

interface Ring {
  readonly serviceId: string;
  readonly metricName: string;
  readonly instance: string;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

interface Took {
  readonly windows: number;
  readonly reading: number;
  readonly analysis: number;
}

/** Milliseconds of processor time, by look. */
export function costRows(): Row[] {
  return LOOKS_MS.flatMap((sinceMs) => {
    const rings = ringsUntil(ONSET_MS + sinceMs);
    const packer = new SeriesPacker();
    const took = Array.from({ length: REPEATS }, () => oneLook(rings, sinceMs, packer)).slice(WARM_UP);
    const sorted = (part: (of: Took) => number) => took.map(part).sort((a, b) => a - b);
    const middle = (part: (of: Took) => number) => sorted(part)[took.length >> 1]!;
    const all = (of: Took) => of.windows + of.reading + of.analysis;
    const data = `${SERVICES} services x ${SERIES} series, ${sinceMs / 1000} s`;
    return [
      { data, measure: "ms of CPU: windows of rings", value: middle(({ windows }) => windows), less: true },
      { data, measure: "ms of CPU: reading", value: middle(({ reading }) => reading), less: true },
      { data, measure: "ms of CPU: analysis", value: middle(({ analysis }) => analysis), less: true },
      { data, measure: "ms of CPU: all", value: middle(all), bar: BAR_MS, less: true },
      { data, measure: "ms of CPU: all, the least", value: sorted(all)[0]!, bar: BAR_MS, less: true },
    ];
  });
}

function oneLook(rings: readonly Ring[], sinceMs: number, packer: SeriesPacker): Took {
  const [windows, numbers] = timed(() => {
    rings.forEach((ring, name) => {
      const packed = departed(ring, name, sinceMs);
      if (packed !== undefined) packer.add(packed);
    });
    return packer.take();
  });
  const names = rings.map(({ serviceId, metricName, instance }) => ({ of: { serviceId, metricName, instance, node: null, peer: null } }));
  const [reading, series] = timed(() => unpackSeries(numbers, (name) => names[name]).map(({ one }) => one));
  const evidence = evidenceOf(series, sinceMs);
  const [analysis, { candidates }] = timed(() => analyse(evidence));
  if (candidates[0]?.serviceId !== serviceName(SERVICES - 1)) throw new Error(`the cause was missed: ${candidates[0]?.serviceId}`);
  return { windows, reading, analysis };
}

function timed<T>(work: () => T): readonly [ms: number, made: T] {
  const before = process.cpuUsage();
  const made = work();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / 1000, made];
}

function departed({ times, values }: Ring, name: number, sinceMs: number): SeriesToPack | undefined {
  const cut = ringWindows(times, values, VALUES, { onsetMs: ONSET_MS, untilMs: ONSET_MS + sinceMs });
  const departure = cut === undefined ? undefined : departureOf(cut);
  return cut === undefined || departure === undefined
    ? undefined
    : { name, departure, onsetMs: times[cut.start + departure.onsetAt]!, intervalMs: INTERVAL_MS };
}

const serviceName = (number: number) => `service-${number}`;

/** Full rings, their last values at `untilMs`: a chain of services whose last one is short of processor time, so that all before it wait. */
function ringsUntil(untilMs: number): Ring[] {
  const random = generator(1);
  return Array.from({ length: SERVICES * SERIES }, (_, i) => {
    const service = Math.floor(i / SERIES);
    const kind = KINDS[i % KINDS.length]!;
    const isSlower = kind === "latency_ms" && service >= SERVICES - 6;
    const isShort = kind === "cpu_percent" && service === SERVICES - 1;
    const factor = isShort ? 3 : isSlower ? 2.5 : 1;
    return {
      serviceId: serviceName(service),
      metricName: kind,
      instance: `i-${Math.floor((i % SERIES) / KINDS.length)}`,
      ...valuesOf(untilMs, factor, random),
    };
  });
}

function valuesOf(untilMs: number, factor: number, { uniform }: Generator): Pick<Ring, "times" | "values"> {
  const times = Float64Array.from({ length: VALUES }, (_, i) => untilMs - (VALUES - 1 - i) * INTERVAL_MS);
  const level = 20 + 80 * uniform();
  const values = Float64Array.from(times, (time) => level * (time < ONSET_MS ? 1 : factor) * (0.9 + 0.2 * uniform()));
  return { times, values };
}

function evidenceOf(series: readonly SeriesEvidence[], sinceMs: number): IncidentEvidence {
  const senders = Array.from({ length: SERVICES }, (_, i) => serviceName(i));
  const target = { serviceId: serviceName(SERVICES - 6), metricName: KINDS[0]! };
  return {
    onsetMs: ONSET_MS,
    untilMs: ONSET_MS + sinceMs,
    target,
    senders,
    members: [target.serviceId],
    series,
    lines: [],
    operations: [],
    calls: [],
    edges: senders.slice(1).map((callee, i) => [senders[i]!, callee] as const),
    changes: [],
    saturated: [],
    silent: [],
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(rowsText(costRows()));
