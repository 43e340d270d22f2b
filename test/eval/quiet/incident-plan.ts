// Incidents that are planted into services, and what each does to a moment: six kinds, and metrics at four times what they are for twenty minutes.
import { generator } from "../../support/generator.ts";

export const INCIDENT_KINDS = ["spike", "level shift", "ramp", "flatline", "variance burst", "error-rate jump"] as const;
export const FACTOR_KINDS = ["4 x requests", "4 x errors", "4 x latency", "4 x cpu"] as const;
export type IncidentKind = (typeof INCIDENT_KINDS)[number] | (typeof FACTOR_KINDS)[number];

export interface Incident {
  readonly kind: IncidentKind;
  /** Minute of its onset; of a ramp that at which it is five standard deviations up. */
  readonly onset: number;
  /** Minute of its first effect: the onset but for ramps, which a page may precede. */
  readonly start: number;
  readonly minutes: number;
}

/** What it does: factor of the rate of requests, share of errors more, standard deviations of latency and cpu more, factor of their noise, and of errors, latency and cpu. */
export interface Effect {
  readonly rate: number;
  readonly errorRatio: number;
  readonly slow: number;
  readonly load: number;
  readonly spread: number;
  readonly errorTimes: number;
  readonly slowTimes: number;
  readonly loadTimes: number;
}

const NOTHING: Effect = { rate: 1, errorRatio: 0, slow: 0, load: 0, spread: 1, errorTimes: 1, slowTimes: 1, loadTimes: 1 };
const FACTOR = 4;
const FACTOR_MINUTES = 20;
const LENGTHS: Readonly<Record<IncidentKind, number>> = {
  spike: 5,
  "level shift": 90,
  ramp: 90,
  flatline: 60,
  "variance burst": 30,
  "error-rate jump": 45,
  "4 x requests": FACTOR_MINUTES,
  "4 x errors": FACTOR_MINUTES,
  "4 x latency": FACTOR_MINUTES,
  "4 x cpu": FACTOR_MINUTES,
};
/** A ramp gains a standard deviation in so many minutes. */
const RAMP_MINUTES_A_SD = 3;
const RAMP_ONSET_SD = 5;

/** An incident of a kind somewhere in [first, last - 100) minutes. */
export function plantIncident(seed: number, kind: IncidentKind, first: number, last: number): Incident {
  const onset = first + 30 + Math.floor(generator(seed ^ 0x1234567).uniform() * (last - first - 160));
  const start = kind === "ramp" ? onset - RAMP_ONSET_SD * RAMP_MINUTES_A_SD : onset;
  return { kind, onset, start, minutes: LENGTHS[kind] };
}

export function incidentEffect(incident: Incident | undefined, minute: number): Effect {
  if (incident === undefined) return NOTHING;
  const since = minute - incident.onset;
  const before = incident.onset - incident.start;
  if (since < -before || since >= incident.minutes) return NOTHING;
  switch (incident.kind) {
    case "spike":
      return { ...NOTHING, slow: 12 };
    case "level shift":
      return { ...NOTHING, slow: 7, load: 5 };
    case "ramp":
      return { ...NOTHING, slow: (since + before) / RAMP_MINUTES_A_SD, load: (since + before) / RAMP_MINUTES_A_SD };
    case "flatline":
      return { ...NOTHING, rate: 0 };
    case "variance burst":
      return { ...NOTHING, spread: 7 };
    case "error-rate jump":
      return { ...NOTHING, errorRatio: 0.08 };
    case "4 x requests":
      return { ...NOTHING, rate: FACTOR };
    case "4 x errors":
      return { ...NOTHING, errorTimes: FACTOR };
    case "4 x latency":
      return { ...NOTHING, slowTimes: FACTOR };
    case "4 x cpu":
      return { ...NOTHING, loadTimes: FACTOR };
  }
}
