// Incidents as a seed makes them up: what is found of each, when and how surely, what holds it back meanwhile, and when the server is killed.
import { type Generator, generator } from "./generator.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
/** Incidents that happen beside each other in one world. */
export const INCIDENTS_PER_WORLD = 5;
const SHAPES = ["one", "growing", "several", "resource", "jump", "cascade", "flapping", "upstream", "model"] as const;
const HOLDS = ["none", "none", "silence-ends", "silence-is-ended", "silence-stays", "silence-comes", "inhibition"] as const;
const ENVIRONMENTS = ["", "prod", "staging"];
/** Values that a series has been compared with: of one that has just come to one that is known for long. */
const AGES = [20, 40, 80, 120, 500];

export type IncidentShape = (typeof SHAPES)[number];

/** One anomaly of an incident. Times count from the start of the world. */
export interface PlannedFinding {
  readonly incident: number;
  readonly serviceId: string;
  readonly metricName: string;
  readonly detector: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly z: number;
  /** Grows to so much, then. */
  readonly growsTo: { readonly z: number; readonly atMs: number } | undefined;
  readonly baselineValues: number;
  /** By the series' own tail: it needs no confirmation. */
  readonly isRare: boolean;
  /** From when its departure is confirmed. */
  readonly confirmedMs: number;
}

export interface PlannedSilence {
  readonly incident: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Somebody ends it before its time. */
  readonly isEnded: boolean;
}

export interface IncidentPlan {
  readonly index: number;
  readonly shape: IncidentShape;
  readonly environment: string;
  /** Services that are hit, beside the source of an inhibition. */
  readonly services: readonly string[];
  readonly findings: readonly PlannedFinding[];
  readonly silence: PlannedSilence | undefined;
  /** While it is open, a rule of people keeps the services quiet. */
  readonly inhibitor: PlannedFinding | undefined;
}

export interface WorldPlan {
  readonly incidents: readonly IncidentPlan[];
  readonly killsMs: readonly number[];
}

/** What a seed makes up. */
export function worldPlan(seed: number): WorldPlan {
  const draw = new Draw(generator(seed * 7919));
  const incidents = Array.from({ length: INCIDENTS_PER_WORLD }, (_, index) => incidentPlan(seed, index, draw));
  const lastMs = Math.max(...incidents.flatMap(({ findings }) => findings.map(({ toMs }) => toMs)));
  const moments = incidents.flatMap(({ findings }) => findings.flatMap(({ fromMs, growsTo }) => growsTo?.atMs ?? fromMs));
  // Half of them fall so that what comes then comes into the warm-up behind them.
  const killMs = () => (draw.isSo(0.5) ? draw.between(MINUTE, lastMs) : draw.of(moments) + draw.between(-8 * MINUTE, MINUTE));
  const killsMs = Array.from({ length: draw.below(5) }, () => Math.max(SECOND, killMs())).sort((a, b) => a - b);
  return { incidents, killsMs };
}

class Draw {
  readonly #random: Generator;

  constructor(random: Generator) {
    this.#random = random;
  }

  below(count: number): number {
    return Math.floor(this.#random.uniform() * count);
  }

  between(from: number, to: number): number {
    return Math.round(from + this.#random.uniform() * (to - from));
  }

  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }

  isSo(share: number): boolean {
    return this.#random.uniform() < share;
  }
}

function incidentPlan(seed: number, index: number, draw: Draw): IncidentPlan {
  const shape = draw.of(SHAPES);
  const environment = draw.of(ENVIRONMENTS);
  const fromMs = draw.between(0, 60 * MINUTE);
  const toMs = fromMs + Math.round(2 * MINUTE * 50 ** (draw.between(0, 1_000) / 1_000));
  const name = `w${seed}i${index}`;
  const services = Array.from({ length: servicesOf(shape, draw) }, (_, place) => `${name}-t${place}`);
  const base = { incident: index, name, fromMs, toMs };
  const findings = findingsOf(shape, services, base, draw);
  const [firstMs, lastMs] = [Math.min(...findings.map((one) => one.fromMs)), Math.max(...findings.map((one) => one.toMs))];
  const hold = draw.of(HOLDS);
  return {
    ...{ index, shape, environment, services, findings },
    silence: hold.startsWith("silence") ? silenceOf(hold, index, [firstMs, lastMs], draw) : undefined,
    inhibitor:
      hold === "inhibition"
        ? {
            ...found(base, `${name}-source`, `${name}_source`, draw),
            ...{ detector: "z_score", z: 9, isRare: true, baselineValues: 500 },
            ...{ fromMs: firstMs - draw.between(SECOND, 5 * MINUTE), toMs: draw.between(firstMs, lastMs + 10 * MINUTE) },
          }
        : undefined,
  };
}

function servicesOf(shape: IncidentShape, draw: Draw): number {
  return shape === "jump" || shape === "cascade" ? 3 + draw.below(3) : 1;
}

interface Base {
  readonly incident: number;
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

function found({ incident, fromMs, toMs }: Base, serviceId: string, metricName: string, draw: Draw): PlannedFinding {
  const isRare = draw.isSo(0.5);
  const detector = draw.of(["z_score", "adaptive"]);
  return {
    ...{ incident, serviceId, metricName, detector, fromMs, toMs, growsTo: undefined, isRare },
    z: detector === "z_score" ? draw.of([5, 9, 25]) : draw.of([2.6, 4, 9]),
    baselineValues: isRare ? draw.of([120, 500]) : draw.of(AGES),
    confirmedMs: fromMs + draw.between(0, 6 * MINUTE),
  };
}

function findingsOf(shape: IncidentShape, services: readonly string[], base: Base, draw: Draw): PlannedFinding[] {
  const [service = ""] = services;
  const first = found(base, service, `${base.name}_m0`, draw);
  const { fromMs, toMs } = base;
  const further = Array.from({ length: 1 + draw.below(3) }, (_, place) => place + 1);
  switch (shape) {
    case "one":
      return [first];
    case "growing":
      return [{ ...first, detector: "adaptive", z: 2.6, growsTo: { z: 12, atMs: draw.between(fromMs + 1, toMs) } }];
    case "several":
      return [first, ...further.map((place) => later(found(base, service, `${base.name}_m${place}`, draw), 3 * MINUTE, draw))];
    case "resource":
      return [first, later({ ...first, detector: "saturation", z: 5, isRare: false }, 3 * MINUTE, draw)];
    case "jump":
      return services.map((one) => later({ ...found(base, one, `${base.name}_m0`, draw), ...jumping(first) }, 8 * SECOND, draw));
    case "cascade":
      return services.map((one, place) => later(found(base, one, `${base.name}_m${place}`, draw), 4 * MINUTE, draw));
    case "flapping":
      return flaps(first, 2 + draw.below(2), draw);
    case "upstream":
      return [{ ...first, detector: "external", z: 5 }];
    case "model":
      return [{ ...first, detector: "isolation_forest", metricName: "service.multivariate", z: draw.of([4, 9]) }];
  }
}

/** What is the same of all that jump. */
function jumping({ z, detector, isRare, baselineValues, confirmedMs }: PlannedFinding): Partial<PlannedFinding> {
  return { z, detector, isRare, baselineValues, confirmedMs };
}

/** The finding, begun later within a time; it ends when it would, and lasts a second at least. */
function later(finding: PlannedFinding, withinMs: number, draw: Draw): PlannedFinding {
  const fromMs = finding.fromMs + draw.between(0, withinMs);
  return { ...finding, fromMs, toMs: Math.max(fromMs + SECOND, draw.between(fromMs, finding.toMs)) };
}

function flaps(first: PlannedFinding, count: number, draw: Draw): PlannedFinding[] {
  const episodes: PlannedFinding[] = [];
  for (let fromMs = first.fromMs, i = 0; i < count; i++) {
    const toMs = fromMs + draw.between(3 * MINUTE, 8 * MINUTE);
    episodes.push({ ...first, fromMs, toMs, confirmedMs: fromMs + draw.between(0, 2 * MINUTE) });
    fromMs = toMs + draw.between(MINUTE, 6 * MINUTE);
  }
  return episodes;
}

function silenceOf(
  hold: (typeof HOLDS)[number],
  incident: number,
  [firstMs, lastMs]: readonly [number, number],
  draw: Draw,
): PlannedSilence {
  const fromMs = hold === "silence-comes" ? draw.between(firstMs, lastMs) : firstMs - draw.between(SECOND, 5 * MINUTE);
  const untilMs = hold === "silence-stays" ? lastMs + 5 * MINUTE : draw.between(Math.max(fromMs, firstMs) + SECOND, lastMs + SECOND);
  return { incident, fromMs, untilMs, isEnded: hold === "silence-is-ended" };
}
