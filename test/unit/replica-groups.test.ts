import { describe, expect, it } from "vitest";
import { REPLICA_SILENCE_MS, ReplicaGroups } from "../../src/adapters/runtime/replica-groups.ts";
import { PROCESS_WORDS_BYTES, REPLICA_BUCKETS } from "../../src/core/layout/memory-map.ts";
import { replicaSource } from "../../src/domain/series/replica-labels.ts";
import { nameOfLabels } from "../../src/domain/series/stream-identity.ts";

const START = 1_795_220_000_000;

describe("groups of replicas", () => {
  it("take the first replica, the other after its silence, whichever lane asks", () => {
    const buffer = new SharedArrayBuffer(PROCESS_WORDS_BYTES);
    const [one, other] = [new ReplicaGroups(buffer), new ReplicaGroups(buffer)];
    expect([one.choose(5n, 1, START), other.choose(5n, 2, START), other.choose(5n, 1, START + 1000)]).toEqual([
      "taken",
      "passed-over",
      "taken",
    ]);
    expect(one.choose(5n, 2, START + 1000 + REPLICA_SILENCE_MS - 100)).toBe("passed-over");
    expect(other.choose(5n, 2, START + 1000 + REPLICA_SILENCE_MS)).toBe("takes-over");
    // The first comes back: now it is the other's turn to fall silent.
    expect([one.choose(5n, 1, START + 40_000), one.choose(5n, 2, START + 41_000), one.choose(6n, 1, START)]).toEqual([
      "passed-over",
      "taken",
      "taken",
    ]);
  });

  it("do not take a clock that was set back for silence", () => {
    const groups = new ReplicaGroups(new SharedArrayBuffer(PROCESS_WORDS_BYTES));
    groups.choose(5n, 1, START);
    expect(groups.choose(5n, 2, START - 3600_000)).toBe("passed-over");
  });

  it("are bounded: what was not heard of for ten minutes makes room, else samples are taken untracked", () => {
    const groups = new ReplicaGroups(new SharedArrayBuffer(PROCESS_WORDS_BYTES));
    // Keys of one bucket.
    const keys = Array.from({ length: 9 }, (_, i) => (BigInt(i * REPLICA_BUCKETS) << 17n) | BigInt(i + 1));
    expect(keys.slice(0, 8).map((key) => groups.choose(key, 1, START))).toEqual(new Array(8).fill("taken"));
    expect(groups.choose(keys[8] as bigint, 1, START)).toBe("untracked");
    expect(groups.choose(keys[8] as bigint, 1, START + 601_000)).toBe("taken");
    expect(groups.choose(keys[8] as bigint, 2, START + 602_000)).toBe("passed-over");
  });

  it("are those of one instance of one service in one cluster; the label is no part of the identity", () => {
    const labels = (replica: Record<string, string>, more: Record<string, string> = {}) =>
      Object.entries({ __name__: "up", job: "node", instance: "a:1", cluster: "eu", ...replica, ...more });
    const source = (given: Array<[string, string]>) => replicaSource("t", "node", given);
    expect(source(labels({}))).toBeUndefined();
    expect(source(labels({ replica: "" }))).toBeUndefined();
    const [a, b] = [source(labels({ __replica__: "a" })), source(labels({ replica: "b" }))];
    expect([a?.group === b?.group, a?.replica === b?.replica]).toEqual([true, false]);
    for (const more of [{ instance: "b:1" }, { cluster: "us" }]) expect(source(labels({ replica: "b" }, more))?.group).not.toBe(a?.group);
    expect(nameOfLabels("t", labels({ replica: "b", __replica__: "c" }))).toEqual(nameOfLabels("t", labels({})));
  });
});
