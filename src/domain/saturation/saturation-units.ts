// The series that are judged for one service: each bounded stream by itself, the streams of an instance together where they are several, and those of a
// pair together where it has several instances. A disk of one node is then seen as well as the cluster's average.
import { groupBy } from "../../core/collections/grouping.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import type { Attributes, StreamName } from "../../core/protocol/coordinator-frame.ts";
import { INSTANCE_NAMES, instanceOf } from "../series/instance-name.ts";
import { environmentAttribute } from "../series/stream-identity.ts";

/** A bounded stream of one service, with whatever its caller knows of it besides. */
export interface BoundedStream {
  readonly name: StreamName;
  /** 32 hex digits. */
  readonly hash: string;
}

/** A series to be judged. */
export interface SaturationUnit<S extends BoundedStream> {
  readonly key: string;
  readonly name: StreamName;
  /** Named in the text: the instance, and what tells its streams apart. */
  readonly instance: string | null;
  readonly streams: readonly S[];
}

/** Attributes named in a text besides the instance. */
const REPORTED_ATTRIBUTES_MAX = 2;

/** All series of a service's bounded streams. */
export function saturationUnits<S extends BoundedStream>(streams: readonly S[]): SaturationUnit<S>[] {
  const units: SaturationUnit<S>[] = [];
  const byPair = groupBy(streams, ({ name }) => JSON.stringify([name.environment, name.metricName]));
  for (const pair of byPair.values()) {
    const byInstance = groupBy(pair, ({ name }) => instanceOf(name.attributes) ?? "");
    for (const [instance, members] of byInstance) {
      for (const stream of members) units.push(unitOfStream(stream, instance, members.length > 1));
      if (instance !== "" && members.length > 1) units.push(rollup(members, instance));
    }
    if (pair.length > 1 && (byInstance.size > 1 || byInstance.has(""))) units.push(rollup(pair, null));
  }
  return units;
}

function unitOfStream<S extends BoundedStream>(stream: S, instance: string, hasSiblings: boolean): SaturationUnit<S> {
  const rest = hasSiblings || instance === "" ? distinguishing(stream.name.attributes) : "";
  const text = [instance, rest].filter((part) => part !== "").join(" ");
  return { key: stream.hash, name: stream.name, instance: text === "" ? null : text, streams: [stream] };
}

function rollup<S extends BoundedStream>(members: readonly S[], instance: string | null): SaturationUnit<S> {
  const { tenant, environment, serviceId, metricName, attributes } = (members[0] as S).name;
  const key = hash128(JSON.stringify(["saturation", tenant, environment, serviceId, metricName, instance]));
  const retained = instance === null ? {} : instanceAttributes(attributes);
  return { key, name: { tenant, environment, serviceId, metricName, attributes: retained }, instance, streams: members };
}

function instanceAttributes(attributes: Attributes): Attributes {
  const name = INSTANCE_NAMES.find((one) => typeof attributes[one] === "string" && attributes[one] !== "");
  return name === undefined ? {} : { [name]: attributes[name] as string };
}

/** Such as mountpoint=/data. */
function distinguishing(attributes: Attributes): string {
  const known = new Set<string>([...INSTANCE_NAMES, environmentAttribute(attributes) ?? ""]);
  const reported = Object.entries(attributes).filter(([name, value]) => !known.has(name) && typeof value === "string");
  return reported
    .slice(0, REPORTED_ATTRIBUTES_MAX)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}
