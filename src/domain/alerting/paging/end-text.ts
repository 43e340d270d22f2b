// How something ended, in words for people: the same in messages, answers and timelines.
import type { AcceptedLevel, Ending } from "../../anomaly/ending.ts";
import { figure } from "../../detection/verdict.ts";
import type { DetectorFamily } from "../ensemble.ts";
import type { AlertPeak } from "./alert.ts";
import { familyOfDetector } from "./detector-family.ts";

/** What is over where rules look at something else than values. */
const RECOVERIES: ReadonlyMap<DetectorFamily, string> = new Map<DetectorFamily, string>([
  ["stale", "it sends again"],
  ["saturation", "it does not run full any more"],
  ["slo_burn", "its error budget burns no faster than it may"],
  ["cascade", "its services do not fail together any more"],
]);

/** Null while it goes on. */
export function endText(ending: Ending | null, peak: Pick<AlertPeak, "detector">): string | null {
  if (ending === null) return null;
  const { reason, person, level } = ending;
  switch (reason) {
    case "recovered":
      return `recovered: ${RECOVERIES.get(familyOfDetector(peak.detector)) ?? "values are what they were before it"}`;
    case "accepted":
      return `${levelText(level)}${person === null ? "" : `, accepted by ${person}`}`;
    case "ended":
      return person === null ? "ended: nothing more is heard of it" : `ended: ${person} has retired the service`;
    case "person":
      return person === null ? "resolved by hand" : `resolved by ${person}`;
    case "upstream":
      return "resolved by who sent it";
    case "cascade":
      return peak.detector === "stale" ? "goes on as a part of the tenant's silence" : "goes on as a part of another alert";
  }
}

function levelText(level: AcceptedLevel | undefined): string {
  if (level === undefined) return "new level: it stays so, and is the usual from now on";
  return `new level: from ${figure(level.from)} to ${figure(level.to)}`;
}
