// An engine that throws over a row or a message says which, and the next start leaves that out of the log: a sample as a dead letter, a message as bytes. Nothing else is missing.
import { afterEach, describe, expect, it, vi } from "vitest";
import { LogHandler } from "../../../../../src/actors/engine/logs/log-handler.ts";
import { BlockMarks } from "../../../../../src/actors/engine/recovery/left-out.ts";
import { SECTION_LOGS, SECTION_PACKED_ROWS, SECTION_RECORD } from "../../../../../src/core/layout/row-frame.ts";
import { BODY_JSON_BATCH } from "../../../../../src/core/protocol/body-kind.ts";
import { type EngineFrame, FRAME_DEAD_LETTER } from "../../../../../src/core/protocol/coordinator-frame.ts";
import type { BlockPosition, CrashNote, CrashPosition } from "../../../../../src/core/protocol/crash-note.ts";
import { formatRfc3339 } from "../../../../../src/core/time/rfc3339.ts";
import { ShardKernel } from "../../../../../src/domain/kernel/shard-kernel.ts";
import { Cluster, VirtualClock } from "../../../../support/cluster.ts";
import { MemoryDisk } from "../../../../support/memory-log.ts";

const START = Date.UTC(2026, 0, 5, 12);
const POISON = 666;
const SERVICES = 4;

afterEach(() => vi.restoreAllMocks());

/** A machine whose clusters come one after another. */
class Machine {
  readonly disk = new MemoryDisk();
  readonly clock = new VirtualClock(START);
  readonly notes: CrashNote[] = [];
  letters: Array<Record<string, unknown>> = [];
  #epoch = 0;

  /** A cluster that is ready; undefined where one of its engines throws, which is noted then. */
  start(): Cluster | undefined {
    this.letters = [];
    const cluster = new Cluster({ engines: 2, epoch: ++this.#epoch, leaveOut: [...this.notes] }, this);
    return this.run(cluster) ? cluster : undefined;
  }

  send(cluster: Cluster, records: readonly object[]): boolean {
    cluster.submit(0, BODY_JSON_BATCH, new TextEncoder().encode(JSON.stringify(records)), () => undefined);
    return this.run(cluster);
  }

  run(cluster: Cluster): boolean {
    try {
      cluster.run((_, frames) => this.#take(frames));
      return true;
    } catch (error) {
      for (const { engine } of cluster.members) {
        const place: CrashPosition | null = engine.crashPosition;
        if (place !== null) this.notes.push({ epoch: this.#epoch, actor: "engine", reason: (error as Error).message, place });
      }
      return false;
    }
  }

  #take(frames: readonly EngineFrame[]): void {
    for (const { kind, payload } of frames) if (kind === FRAME_DEAD_LETTER) this.letters.push(JSON.parse(Buffer.from(payload).toString()));
  }
}

const sample = (service: number, second: number, value: number) => ({
  service_id: `s${service}`,
  metric_name: "m",
  value,
  timestamp: formatRfc3339(START - 60_000 + 1000 * second),
});

/** Values of all services, in order. */
async function values(machine: Machine, cluster: Cluster): Promise<number[][]> {
  const answers = Array.from({ length: SERVICES }, async (_, service) => {
    const query = {
      type: "series-data",
      tenant: "default",
      serviceId: `s${service}`,
      metricName: "m",
      environment: null,
      attributes: null,
    };
    const asked = [0, 1].map((engine) => cluster.ask(engine, { ...query, fromMs: 0, toMs: 2 * START, limit: 100 } as never));
    machine.run(cluster);
    const found = (await Promise.all(asked)) as unknown as Array<{ matches: number; values: Float64Array }>;
    return [...(found.find(({ matches }) => matches > 0)?.values ?? [])];
  });
  return Promise.all(answers);
}

/** A late value of POISON ends the engine that takes it. */
function throwOverLate(): void {
  const insert = ShardKernel.prototype.insertLate;
  vi.spyOn(ShardKernel.prototype, "insertLate").mockImplementation(function (this: ShardKernel, slot, timeMs, value) {
    if (value === POISON) throw new Error("a defect");
    return insert.call(this, slot, timeMs, value);
  });
}

const early = Array.from({ length: SERVICES }, (_, service) => [sample(service, 0, 1), sample(service, 10, 3)]).flat();
/** Of each service a late one; of one of them two, of which one is the poison. */
const late = [...Array.from({ length: SERVICES }, (_, service) => sample(service, 5, 2)), sample(2, 6, POISON), sample(2, 7, 2.5)];

describe("a sample that an engine throws over", () => {
  it("is left out by the next start as a dead letter, and all others are there, whichever engine has its series", async () => {
    throwOverLate();
    const machine = new Machine();
    const first = machine.start() as Cluster;
    expect(machine.send(first, early)).toBe(true);
    expect(machine.send(first, late)).toBe(false);
    expect(machine.notes).toMatchObject([{ reason: "a defect", place: { type: "block", section: SECTION_PACKED_ROWS } }]);
    for (let start = 0; start < 2; start++) {
      const next = machine.start() as Cluster;
      expect(next.leftOut).toEqual([]);
      expect(machine.letters).toMatchObject([{ reason: "unstorable", payload: sample(2, 6, POISON) }]);
      expect(await values(machine, next)).toEqual([[1, 2, 3], start === 0 ? [1, 2, 3] : [1, 2, 3, 4], [1, 2, 2.5, 3], [1, 2, 3]]);
      expect(machine.send(next, [sample(1, 20 + start, 4)])).toBe(true);
    }
  });

  it("that an older version left in the log costs one start", async () => {
    const machine = new Machine();
    const first = machine.start() as Cluster;
    expect(machine.send(first, early) && machine.send(first, late)).toBe(true);
    throwOverLate();
    expect(machine.start()).toBeUndefined();
    expect(await values(machine, machine.start() as Cluster)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 2.5, 3],
      [1, 2, 3],
    ]);
  });
});

describe("a message that an engine throws over", () => {
  it("is left out by the next start with its bytes, and the others are taken", () => {
    const machine = new Machine();
    const first = machine.start() as Cluster;
    const log = (service: string) => ({ service_id: service, type: "log", body: "b", level: "error", timestamp: formatRfc3339(START) });
    let taken = 0;
    const take = LogHandler.prototype.take;
    vi.spyOn(LogHandler.prototype, "take").mockImplementation(function (this: LogHandler, partition, payload, arrival) {
      if (Buffer.from(payload).includes("poison")) throw new Error("a defect");
      taken++;
      return take.call(this, partition, payload, arrival);
    });
    expect(machine.send(first, [log("shop"), log("poison"), log("cart")])).toBe(false);
    expect(machine.notes).toMatchObject([{ place: { section: SECTION_LOGS } }]);
    taken = 0;
    const next = machine.start() as Cluster;
    expect(next.leftOut).toMatchObject([{ what: expect.stringContaining("a message of kind 18"), reason: "a defect" }]);
    expect(Buffer.from(next.leftOut[0]?.bytes ?? []).includes("poison")).toBe(true);
    expect(taken).toBe(2);
  });
});

describe("a start that is killed", () => {
  it("leaves nothing that could be left out", () => {
    const machine = new Machine();
    const cluster = machine.start() as Cluster;
    machine.send(cluster, early);
    expect(cluster.members.map(({ engine }) => engine.crashPosition)).toEqual([null, null]);
  });
});

describe("marks of a block", () => {
  const place = (section: number | null, item: string | null): BlockPosition => ({
    type: "block",
    epoch: 1,
    lane: 0,
    segment: 0,
    offset: 8,
    section,
    item,
  });

  it("widen where what was left out was not enough, until nothing of the block is used", () => {
    const marks = new BlockMarks();
    marks.add(place(SECTION_PACKED_ROWS, "row"), "first");
    expect([marks.leavesOut(SECTION_PACKED_ROWS), marks.items(SECTION_PACKED_ROWS)?.has("row")]).toEqual([false, true]);
    marks.add(place(SECTION_PACKED_ROWS, "row"), "again");
    expect([marks.leavesOut(SECTION_PACKED_ROWS), marks.leavesOut(SECTION_LOGS)]).toEqual([true, false]);
    marks.add(place(SECTION_PACKED_ROWS, null), "again");
    expect([marks.leavesOut(SECTION_LOGS), marks.leavesOut(SECTION_RECORD), marks.isAll]).toEqual([true, true, false]);
    marks.add(place(null, null), "again");
    expect(marks.isAll).toBe(true);
    expect(marks.reason).toBe("again");
  });
});
