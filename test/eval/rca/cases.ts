// Cases of the labelled data, and the evidence of each: windows of its normal ranges before, the window from its injection on as now.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { departureOf } from "../../../src/domain/rca/departure.ts";
import type { IncidentEvidence, SeriesEvidence } from "../../../src/domain/rca/evidence.ts";
import { cutWindows } from "../../../src/domain/rca/ring-windows.ts";
import { readWideTable, type WideTable } from "./csv.ts";
import { readLines, readSpans } from "./telemetry.ts";
import { caseEvidence, type Telemetry } from "./telemetry-evidence.ts";

type Range = readonly [from: number, to: number];

/** A case of cases.json. */
interface LabelledCase {
  readonly id: string;
  readonly system: string;
  readonly fault_type: string;
  readonly file: string;
  readonly normal_file: string | null;
  readonly inject_time: number;
  readonly last_usable_time: number;
  readonly normal_ranges?: Range[] | string;
  readonly truth: string;
  readonly target: { readonly service: string; readonly metric: string } | null;
  readonly graph: Array<[string, string]> | string | null;
}

/** A window of quiet.json. */
interface QuietWindow {
  readonly id: string;
  readonly system: string;
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** A case, or a quiet window, which has no truth. */
export interface EvaluatedCase {
  readonly id: string;
  readonly system: string;
  readonly faultType: string | null;
  readonly truth: string | null;
  readonly evidence: IncidentEvidence;
}

/** Quiet windows keep so far from what counts as normal for them. */
const QUIET_MARGIN_S = 600;
/** Fewer rows than this before a window say nothing of its beginning. */
const LEAD_S = 1200;
/** Windows of normal rows that are looked at: those of an engine's ring are fewer. */
const WINDOWS_MAX = 60;
/** Service that stands for the whole system's front door. */
const ENTRY = "@entry";

/** All cases and quiet windows of a folder. */
export function readCases(folder: string): EvaluatedCase[] {
  const read = <T>(name: string) => JSON.parse(readFileSync(join(folder, name), "utf8")) as T;
  const cases = read<LabelledCase[]>("cases.json");
  const quiet = existsSync(join(folder, "quiet.json")) ? read<QuietWindow[]>("quiet.json") : [];
  const source = new Source(folder, cases);
  return [
    ...cases.map((each) => ({
      id: each.id,
      system: each.system,
      faultType: each.fault_type,
      truth: each.truth,
      evidence: source.evidence(each.file, each.normal_file, [each.inject_time, each.last_usable_time], null, each),
    })),
    ...quiet.map((each) => ({
      id: each.id,
      system: each.system,
      faultType: null,
      truth: null,
      evidence: source.evidence(each.file, null, [each.start, each.end], [each.start - QUIET_MARGIN_S, each.end + QUIET_MARGIN_S], null),
    })),
  ];
}

class Source {
  readonly #folder: string;
  readonly #tables = new Map<string, WideTable>();
  readonly #telemetry = new Map<string, Telemetry | null>();
  readonly #ranges = new Map<string, Range[]>();
  readonly #edges = new Map<string, Array<[string, string]>>();

  constructor(folder: string, cases: readonly LabelledCase[]) {
    this.#folder = folder;
    for (const { file, normal_ranges: ranges, graph } of cases) {
      if (Array.isArray(ranges)) this.#ranges.set(file, ranges);
      if (Array.isArray(graph)) this.#edges.set(file, graph);
    }
  }

  evidence(file: string, normalFile: string | null, [from, to]: Range, excluded: Range | null, of: LabelledCase | null): IncidentEvidence {
    const table = this.#table(file);
    const normal = normalFile === null ? table : this.#table(normalFile);
    const ranges = this.#ranges.get(file);
    const isNormal = (time: number) =>
      (ranges === undefined || normalFile !== null || ranges.some(([a, b]) => time >= a && time <= b)) &&
      (excluded === null || time < excluded[0] || time > excluded[1]);
    const telemetry = this.#telemetryOf(file);
    return {
      onsetMs: from * 1000,
      untilMs: to * 1000,
      senders: [],
      members: [],
      target: of?.target ? { serviceId: of.target.service, metricName: of.target.metric } : null,
      series: seriesEvidence(table, normal, isNormal, [from, to]),
      ...caseEvidence(telemetry, isNormal, [from, to]),
      edges: this.#graph(file, of, telemetry),
      changes: [],
      saturated: [],
      silent: [],
    };
  }

  #table(file: string): WideTable {
    const known = this.#tables.get(file);
    if (known !== undefined) return known;
    const table = readWideTable(join(this.#folder, file));
    this.#tables.set(file, table);
    return table;
  }

  #telemetryOf(file: string): Telemetry | null {
    const known = this.#telemetry.get(file);
    if (known !== undefined) return known;
    const logs = join(this.#folder, file.replace(".csv.gz", ".logs.csv.gz"));
    const spans = join(this.#folder, file.replace(".csv.gz", ".spans.csv.gz"));
    const telemetry = existsSync(logs) ? { lines: readLines(logs), spans: existsSync(spans) ? readSpans(spans) : [] } : null;
    this.#telemetry.set(file, telemetry);
    return telemetry;
  }

  #graph(file: string, of: LabelledCase | null, telemetry: Telemetry | null): Array<[string, string]> {
    if (typeof of?.graph === "string" && of.graph.endsWith(".json")) return JSON.parse(readFileSync(join(this.#folder, of.graph), "utf8"));
    const known = this.#edges.get(file);
    if (known !== undefined) return known;
    const edges = new Map<string, [string, string]>();
    for (const { caller, serviceId } of telemetry?.spans ?? []) {
      if (caller !== "" && caller !== serviceId) edges.set(`${caller}>${serviceId}`, [caller, serviceId]);
    }
    const list = [...edges.values()];
    this.#edges.set(file, list);
    return list;
  }
}

function seriesEvidence(table: WideTable, normal: WideTable, isNormal: (time: number) => boolean, [from, to]: Range): SeriesEvidence[] {
  const rows = [...table.times.keys()].filter((i) => table.times[i]! >= from && table.times[i]! <= to);
  const normalRows = [...normal.times.keys()].filter((i) => isNormal(normal.times[i]!));
  const width = rows.length;
  const windows = spread(windowsOf(normal.times, normalRows, width), WINDOWS_MAX);
  const leads = normal === table ? normalRows.filter((i) => normal.times[i]! < from && normal.times[i]! >= from - LEAD_S).slice(-3) : [];
  return [...table.columns].flatMap(([name, values]) => {
    const [serviceId = "", ...metric] = name.split("|");
    const before = normal.columns.get(name);
    if (serviceId === ENTRY || before === undefined) return [];
    const past = windows.flatMap((at) => [...before.slice(at, at + width)]);
    const pastLeads = Float64Array.from(windows, (at) => before[at - 1] ?? Number.NaN);
    const all = Float64Array.from([...past, ...rows.map((i) => values[i]!)]);
    const departure = departureOf(
      cutWindows(all, { from: 0, start: all.length - width, end: all.length }, pastLeads, mean(leads.map((i) => before[i]!))),
    );
    return departure === undefined
      ? []
      : [
          {
            serviceId,
            metricName: metric.join("|"),
            instance: null,
            node: null,
            peer: null,
            departure,
            onsetMs: table.times[rows[departure.onsetAt]!]! * 1000,
            intervalMs: 1000 * (table.times.length < 2 ? 60 : table.times[1]! - table.times[0]!),
          },
        ];
  });
}

/** First rows of windows of rows that follow each other. */
function windowsOf(times: Float64Array, rows: readonly number[], width: number): number[] {
  const windows: number[] = [];
  const step = times.length < 2 ? 60 : times[1]! - times[0]!;
  for (let i = 0; i + width <= rows.length; ) {
    const first = rows[i]!;
    const last = rows[i + width - 1]!;
    if (last - first === width - 1 && times[last]! - times[first]! <= step * width) {
      windows.push(first);
      i += width;
    } else i++;
  }
  return windows;
}

/** At most so many of a list, evenly from all of it. */
function spread<T>(list: readonly T[], max: number): T[] {
  return list.length <= max ? [...list] : Array.from({ length: max }, (_, i) => list[Math.floor((i * list.length) / max)]!);
}

function mean(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0) / known.length;
}
