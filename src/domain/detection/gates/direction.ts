// Which way a series is bad: fewer errors and faster answers are no alert. By whole words of the name; an override of the series goes first.
import { BoundedMap } from "../../../core/collections/bounded-map.ts";
import { nameTerms } from "../../series/metric-family.ts";
import type { GateResult } from "./gate-result.ts";

export type Direction = "both" | "high" | "low";

const BAD_WHEN_HIGH = terms(
  "error errors failure failures failed exception exceptions timeout timeouts latency duration delay lag 5xx dropped retries",
);
const BAD_WHEN_LOW = terms("success availability apdex uptime free avail available remaining unused released headroom healthy");

/** Names kept, at most, whose words were looked at lately, 100 B each: every finding of a metric asks. */
const NAMES_RETAINED_MAX = 4_096;
const cache = new BoundedMap<string, Direction>(NAMES_RETAINED_MAX);

/** Direction by name; words of both kinds, or none, say nothing. */
export function directionOfName(metricName: string): Direction {
  return cache.obtain(metricName, () => directionOfText(metricName));
}

function directionOfText(metricName: string): Direction {
  const of = nameTerms(metricName);
  const high = of.some((word) => BAD_WHEN_HIGH.has(word));
  const low = of.some((word) => BAD_WHEN_LOW.has(word));
  if (high === low) return "both";
  return high ? "high" : "low";
}

/** Passes where the deviation goes the watched way; value is the signed deviation. */
export function directionGate(z: number, metricName: string, override: Direction | null): GateResult {
  const watched = override ?? directionOfName(metricName);
  const passed = watched === "both" ? z !== 0 : watched === "high" ? z > 0 : z < 0;
  return { name: "direction", passed, value: z, limit: 0 };
}

function terms(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
