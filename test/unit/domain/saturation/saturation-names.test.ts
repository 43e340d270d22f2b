import { describe, expect, it } from "vitest";
import { type BoundedKind, boundsOf, kindOfName } from "../../../../src/domain/saturation/bounded-name.ts";
import { nameTerms } from "../../../../src/domain/series/metric-family.ts";

const HOUR = { max: 87.5, minutes: 60 };

describe("words of a name", () => {
  it.each([
    ["system.cpu.utilization", ["system", "cpu", "utilization"]],
    ["node_filesystem_avail_bytes", ["node", "filesystem", "avail", "bytes"]],
    ["diskUsedPercent", ["disk", "used", "percent"]],
    ["pool/seats-left p95", ["pool", "seats", "left", "p95"]],
  ])("%s", (name, words) => expect(nameTerms(name)).toEqual(words));
});

describe("kind by name", () => {
  const table: ReadonlyArray<readonly [string, BoundedKind | null]> = [
    ["disk.used_percent", "utilization"],
    ["system.cpu.utilization", "utilization"],
    ["system.memory.usage", "utilization"],
    ["jvm.heap.used", "utilization"],
    ["pool.saturation", "utilization"],
    ["memoryUsagePct", "utilization"],
    ["queue_fill_ratio", "utilization"],
    ["disk.free", "remaining"],
    ["node_memory_MemAvailable_bytes", "remaining"],
    ["quota.remaining", "remaining"],
    ["seats_left", "remaining"],
    ["cpu_credits", "remaining"],
    ["cpu.idle", "remaining"],
    // Both shapes: what remains.
    ["disk.free_percent", "remaining"],
    ["memory_available_ratio", "remaining"],
    ["cpu.idle.utilization", "remaining"],
    // Shares that are no resource.
    ["error_ratio", null],
    ["cache.hit_ratio", null],
    ["success_percent", null],
    ["service.availability", null],
    ["requests.rate", null],
    ["slo.error_budget_remaining_ratio", null],
    // Words inside words, and numbers of things.
    ["downloads", null],
    ["freedom.index", null],
    ["node_memory_MemAvailable_bytes", "remaining"],
    ["node_memory_MemFree_bytes", null],
    ["system.mem.free", null],
    ["connections.used", null],
    ["http.server.duration", null],
  ];
  it.each(table)("%s: %s", (name, kind) => expect(kindOfName(name)).toBe(kind));
});

describe("bounds", () => {
  it.each([
    ["a unit of percent", "disk.used", "%", HOUR, 100],
    ["a unit of one", "disk.used", "1", { max: 0.9, minutes: 60 }, 1],
    ["percent in the name, at once", "disk.used_percent", null, { max: 3, minutes: 0 }, 100],
    ["a share that stayed below 1 for an hour", "system.cpu.utilization", null, { max: 1, minutes: 60 }, 1],
    ["a share that was above 1", "system.cpu.utilization", null, { max: 1.01, minutes: 60 }, 100],
    ["percent a little over its end", "cpu.percent", null, { max: 109.9, minutes: 60 }, 100],
    ["a unit of one a little over its end", "cpu.utilization", "1", { max: 1.09, minutes: 60 }, 1],
    ["a share of percent", "system.memory.usage", null, { max: 100, minutes: 60 }, 100],
  ])("by %s", (_, name, unit, range, capacity) => {
    expect(boundsOf(name, unit, range, null)).toMatchObject({ kind: "utilization", capacity, declared: false });
  });
  it.each([
    ["a share of unknown range", "system.cpu.utilization", null, { max: 0.5, minutes: 59.9 }],
    ["a processor of several cores", "cpu.percent", null, { max: 110.1, minutes: 60 }],
    ["a unit of one that is none", "cpu.utilization", "1", { max: 1.2, minutes: 60 }],
    ["a raw unit", "memory.usage", "By", HOUR],
    ["a raw range", "memory.usage", null, { max: 8e9, minutes: 600 }],
    ["connections", "connections.used", null, HOUR],
    ["an error ratio", "error_ratio", "1", HOUR],
  ])("none for %s without a declaration", (_, name, unit, range) => expect(boundsOf(name, unit, range, null)).toBeNull());
  it("of what remains are zero, with a capacity where the unit tells it", () => {
    expect(boundsOf("disk.free_bytes", "By", { max: 5e9, minutes: 10 }, null)).toMatchObject({
      kind: "remaining",
      capacity: null,
      unit: "By",
    });
    expect(boundsOf("disk.free_percent", null, { max: 60, minutes: 0 }, null)).toMatchObject({
      kind: "remaining",
      capacity: 100,
      unit: "%",
    });
    expect(boundsOf("seats_left", null, { max: 60, minutes: 600 }, null)).toMatchObject({ kind: "remaining", capacity: null });
    expect(boundsOf("cpu.idle", null, { max: 99, minutes: 60 }, null)).toMatchObject({ kind: "remaining", capacity: 100 });
  });
  it("are those that were declared, for any name", () => {
    const declared = { value: 200, unit: "connections" };
    expect(boundsOf("db.connections.active", null, HOUR, declared)).toEqual({
      kind: "utilization",
      capacity: 200,
      unit: "connections",
      declared: true,
    });
    expect(boundsOf("disk.used_percent", "%", HOUR, { value: 80, unit: "%" })).toMatchObject({ capacity: 80 });
    expect(boundsOf("disk.free_bytes", "By", HOUR, { value: 1e12, unit: "bytes" })).toMatchObject({ kind: "remaining", capacity: 1e12 });
    expect(boundsOf("disk.used_percent", "%", HOUR, { value: 0, unit: "%" })).toBeNull();
  });
});
