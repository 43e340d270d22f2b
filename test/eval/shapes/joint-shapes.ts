// Services whose metrics follow a few drivers, a value a minute for four weeks, the third of them with an incident a day; in the fourth a quarter of the metrics moves
// for good, or one metric leaves the others, twice.
import { type Generator, generator } from "../../support/generator.ts";

const DAY = 24 * 60;
const JOINT_DAYS = 28;
export const JOINT_MINUTES = JOINT_DAYS * DAY;
/** From when on a quarter of the metrics is moved: the second working day of the fourth week. */
export const MOVED_AT = 22 * DAY + 9 * 60;
const MOVED_SDS = 3;
/** When one metric leaves the others: on two days of the fourth week, at other hours. */
export const LEAVES_AT = [22 * DAY + 10 * 60 + 23, 25 * DAY + 15 * 60 + 47] as const;
export const LEAVES_MINUTES = 20;
const LEAVES_SDS = 4;
/** Each day of the third week has one, at any time, of a quarter of the metrics. */
const INCIDENT_DAYS = [14, 15, 16, 17, 18, 19, 20] as const;
export const INCIDENT_MINUTES = 30;
const INCIDENT_SDS = 5;

/** What comes in the fourth week. */
export type JointKind = "moves" | "leaves";

/** A service's minutes, and when its incidents begin. */
export interface JointService {
  /** Of each metric, minute by minute. */
  readonly values: readonly Float64Array[];
  readonly incidents: readonly number[];
}

/** A service: 20 to 40 metrics, each a mix of two of 3 to 5 drivers with noise of its own. */
interface Service {
  readonly weights: readonly Float64Array[];
  readonly levels: Float64Array;
  readonly noise: Float64Array;
  /** Standard deviation of each metric, of drivers and noise together. */
  readonly sds: Float64Array;
}

function serviceOf({ uniform, normal }: Generator): Service {
  const metrics = 20 + Math.floor(21 * uniform());
  const drivers = 3 + Math.floor(3 * uniform());
  const weights = Array.from({ length: metrics }, (_, j) => {
    const own = new Float64Array(drivers);
    own[j % drivers] = 0.6 + 0.6 * uniform();
    const other = Math.floor(drivers * uniform());
    own[other] = (own[other] as number) + 0.3 * normal();
    return own;
  });
  const noise = Float64Array.from({ length: metrics }, () => 0.1 + 0.3 * uniform());
  const levels = Float64Array.from({ length: metrics }, () => 10 ** (1 + 2 * uniform()));
  const sds = Float64Array.from(weights, (own, j) => Math.hypot(...own, noise[j] as number));
  return { weights, levels, noise, sds };
}

/** A service of this seed: the same up to the fourth week, whatever comes in it. */
export function jointService(seed: number, kind: JointKind): JointService {
  const random = generator(seed);
  const { weights, levels, noise, sds } = serviceOf(random);
  const drivers = new Float64Array((weights[0] as Float64Array).length);
  const phases = drivers.map(() => 2 * Math.PI * random.uniform());
  const { incidents, departure } = departures(seed, kind, weights.length);
  const values = weights.map(() => new Float64Array(JOINT_MINUTES));
  const seasons = drivers.map(() => 0);
  for (let minute = 0; minute < JOINT_MINUTES; minute++) {
    const angle = (2 * Math.PI * minute) / DAY;
    const weekend = Math.floor(minute / DAY) % 7 >= 5 ? 0.5 : 0;
    for (let d = 0; d < drivers.length; d++) {
      drivers[d] = 0.95 * (drivers[d] as number) + 0.25 * random.normal();
      seasons[d] = (drivers[d] as number) + 0.6 * Math.sin(angle + (phases[d] as number)) - weekend;
    }
    for (const [j, own] of values.entries()) {
      let sum = (noise[j] as number) * random.normal() + (sds[j] as number) * departure(minute, j);
      for (const [d, weight] of (weights[j] as Float64Array).entries()) sum += weight * (seasons[d] as number);
      own[minute] = (levels[j] as number) * (1 + 0.1 * sum);
    }
  }
  return { values, incidents };
}

/** How far a metric is moved in a minute, in its standard deviations. */
function departures(seed: number, kind: JointKind, metrics: number) {
  const { uniform } = generator(seed + 1_000_003);
  const order = Array.from({ length: metrics }, (_, j) => ({ j, lot: uniform() })).sort((a, b) => a.lot - b.lot);
  const quarterOf = (from: number) => new Set(order.slice(from, from + Math.ceil(metrics / 4)).map(({ j }) => j));
  const [moving, broken] = [quarterOf(0), quarterOf(metrics >> 1)];
  const leaving = order.at(-1)?.j;
  const sides = Array.from({ length: metrics }, () => (uniform() < 0.5 ? -1 : 1));
  const incidents = INCIDENT_DAYS.map((day) => day * DAY + Math.floor((DAY - INCIDENT_MINUTES) * uniform()));
  const isWithin = (minute: number, begins: readonly number[], minutes: number) =>
    begins.some((begin) => minute >= begin && minute < begin + minutes);
  const departure = (minute: number, j: number): number => {
    const side = sides[j] as number;
    if (broken.has(j) && isWithin(minute, incidents, INCIDENT_MINUTES)) return INCIDENT_SDS * side;
    if (kind === "moves") return minute >= MOVED_AT && moving.has(j) ? MOVED_SDS * side : 0;
    return j === leaving && isWithin(minute, LEAVES_AT, LEAVES_MINUTES) ? LEAVES_SDS * side : 0;
  };
  return { incidents, departure };
}
