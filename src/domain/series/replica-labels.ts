// Series that a pair of Prometheus servers sends twice, each with a label that names the replica. The label is no part of a stream's identity.

/** Labels that tell replicas apart. */
export const REPLICA_LABELS: ReadonlySet<string> = new Set(["__replica__", "replica", "prometheus_replica"]);

/** Those and the names of a list with commas (REPLICA_LABELS); the same set where it has none. */
export function withReplicaLabels(list: string): ReadonlySet<string> {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return names.length === 0 ? REPLICA_LABELS : new Set([...REPLICA_LABELS, ...names]);
}

const INSTANCE_LABEL = "instance";
const CLUSTER_LABEL = "cluster";

/** Which replica of which group a series comes from. */
export interface ReplicaSource {
  /** One replica is taken in each group: the series of one service's instance in one cluster, which one server of a pair scrapes at once. */
  readonly group: string;
  /** The tenant's cluster, whose servers are distinguished by their replica. */
  readonly cluster: string;
  readonly replica: string;
}

/** The source of a series of a service; undefined when it names no replica. */
export function replicaSource(
  tenant: string,
  serviceId: string,
  labels: ReadonlyArray<readonly [string, string]>,
  replicaLabels = REPLICA_LABELS,
): ReplicaSource | undefined {
  const values = new Map(labels);
  const replica = [...replicaLabels].map((name) => values.get(name) ?? "");
  if (replica.every((value) => value === "")) return undefined;
  const cluster = [tenant, values.get(CLUSTER_LABEL) ?? ""];
  const group = [...cluster, serviceId, values.get(INSTANCE_LABEL) ?? ""];
  return { group: JSON.stringify(group), cluster: JSON.stringify(cluster), replica: JSON.stringify(replica) };
}
