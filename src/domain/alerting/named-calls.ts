// Calls that open findings themselves name: where no spans join services, a series of calls to another one says whom it calls.
import type { Anomaly } from "../anomaly/anomaly.ts";
import { meaningOf, peerOf } from "../rca/metric-kind.ts";
import { namedEdges } from "../rca/peers.ts";
import type { Call } from "./cascade.ts";

/** A finding on a series of calls. */
type CallFinding = Pick<Anomaly, "serviceId" | "metricName" | "attributes">;

/** Whether a series of this name may say whom it calls. */
export function mayNameCallee(metricName: string): boolean {
  return meaningOf(metricName).kind === "dependency";
}

/** Calls among the services that the findings name, by whatever name. */
export function namedCalls(findings: readonly CallFinding[], services: ReadonlySet<string>): Call[] {
  const named = findings.flatMap(({ serviceId, metricName, attributes }) => {
    const peer = peerOf(metricName, attributes);
    return peer === null ? [] : [[serviceId, peer] as const];
  });
  return namedEdges(named, services, []).flatMap(([caller, callee]) => (services.has(callee) ? [{ caller, callee }] : []));
}
