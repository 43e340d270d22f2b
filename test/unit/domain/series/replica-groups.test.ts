import { describe, expect, it } from "vitest";
import { GROUP_SILENCE_MS, REPLICA_SILENCE_MS, ReplicaGroups } from "../../../../src/adapters/shared-memory/replica-groups.ts";
import { PROCESS_LENGTH_BYTES, REPLICA_BUCKETS } from "../../../../src/core/layout/memory-map.ts";
import { replicaSource } from "../../../../src/domain/series/replica-labels.ts";
import { nameOfLabels } from "../../../../src/domain/series/stream-identity.ts";

const START = 1_795_220_000_000;

const of = (group: bigint, replica: number, cluster = 77n) => ({ group, cluster, replica });

describe("groups of replicas", () => {
  it("take the first replica, the other after its silence, whichever ingest asks", () => {
    const buffer = new SharedArrayBuffer(PROCESS_LENGTH_BYTES);
    const [one, other] = [new ReplicaGroups(buffer), new ReplicaGroups(buffer)];
    expect([one.choose(of(5n, 1), START), other.choose(of(5n, 2), START), other.choose(of(5n, 1), START + 1000)]).toEqual([
      "taken",
      "passed-over",
      "taken",
    ]);
    expect(one.choose(of(5n, 2), START + 1000 + REPLICA_SILENCE_MS - 100)).toBe("passed-over");
    expect(other.choose(of(5n, 2), START + 1000 + REPLICA_SILENCE_MS)).toBe("takes-over");
    // The first comes back: now it is the other's turn to fall silent.
    expect([one.choose(of(5n, 1), START + 40_000), one.choose(of(5n, 2), START + 41_000), one.choose(of(6n, 1), START)]).toEqual([
      "passed-over",
      "taken",
      "taken",
    ]);
  });

  it("that are scraped seldom do not change hands while the server of their replica is heard of", () => {
    const groups = new ReplicaGroups(new SharedArrayBuffer(PROCESS_LENGTH_BYTES));
    const seen = new Set<string>();
    for (let second = 0; second < 600; second++) {
      const now = START + second * 1000;
      if (second % 5 === 0) for (const replica of [1, 2]) groups.choose(of(9n, replica), now);
      if (second % 60 === 0) seen.add(`1 ${groups.choose(of(5n, 1), now)}`);
      if (second % 60 === 40) seen.add(`2 ${groups.choose(of(5n, 2), now)}`);
    }
    expect(seen).toEqual(new Set(["1 taken", "2 passed-over"]));
    // Its server is heard of, but has lost this one: another pair may have a server of the same name.
    const lostMs = START + 540_000;
    for (let ms = 60_000; ms <= GROUP_SILENCE_MS; ms += 5_000) groups.choose(of(9n, 1), lostMs + ms);
    expect(groups.choose(of(5n, 2), lostMs + GROUP_SILENCE_MS - 100)).toBe("passed-over");
    expect(groups.choose(of(5n, 2), lostMs + GROUP_SILENCE_MS)).toBe("takes-over");
  });

  it("of a server that is heard of once a minute have as much patience as that needs", () => {
    const groups = new ReplicaGroups(new SharedArrayBuffer(PROCESS_LENGTH_BYTES));
    const seen: string[] = [];
    for (let minute = 0; minute < 5; minute++) {
      groups.choose(of(5n, 1), START + minute * 60_000);
      if (minute > 1) seen.push(groups.choose(of(5n, 2), START + minute * 60_000 + 45_000));
    }
    expect(seen).toEqual(["passed-over", "passed-over", "passed-over"]);
    expect(groups.choose(of(5n, 2), START + 240_000 + 89_000)).toBe("passed-over");
    expect(groups.choose(of(5n, 2), START + 240_000 + 91_000)).toBe("takes-over");
  });

  it("do not take a clock that was set back for silence", () => {
    const groups = new ReplicaGroups(new SharedArrayBuffer(PROCESS_LENGTH_BYTES));
    groups.choose(of(5n, 1), START);
    expect(groups.choose(of(5n, 2), START - 3600_000)).toBe("passed-over");
  });

  it("are bounded: what was not heard of for ten minutes makes room, else samples are taken untracked", () => {
    const groups = new ReplicaGroups(new SharedArrayBuffer(PROCESS_LENGTH_BYTES));
    // Keys of one bucket.
    const keys = Array.from({ length: 9 }, (_, i) => (BigInt(i * REPLICA_BUCKETS) << 17n) | (5n << 17n) | BigInt(i + 1));
    expect(keys.slice(0, 8).map((key) => groups.choose(of(key, 1), START))).toEqual(new Array(8).fill("taken"));
    const last = keys[8] as bigint;
    expect(groups.choose(of(last, 1), START)).toBe("untracked");
    expect([groups.choose(of(last, 1), START + 601_000), groups.choose(of(last, 2), START + 602_000)]).toEqual(["taken", "passed-over"]);
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
