// Frames that no store can take end nothing: they become dead letters or bytes set aside, and everything around them is stored, in its order.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeOfFrames, UnstorableFramesError } from "../../../../../src/actors/coordinator/commits/frame-sifting.ts";
import { StoreError } from "../../../../../src/adapters/storage/key-value-store.ts";
import {
  type EngineFrame,
  FRAME_BLOCK,
  FRAME_CHECKPOINT,
  FRAME_DEAD_LETTER,
  FRAME_METADATA,
  FRAME_RECORD,
  FRAME_VERDICT,
} from "../../../../../src/core/protocol/coordinator-frame.ts";
import type { RetainedDataFault } from "../../../../../src/core/protocol/data-fault.ts";
import type { SetAsideItem } from "../../../../../src/core/protocol/set-aside.ts";
import { deadLetter, episode, logMark, Rig, record } from "../../../../support/coordinator-rig.ts";

const json = (kind: number, value: object): EngineFrame => ({ kind, payload: Buffer.from(JSON.stringify(value)) });
const metadata = (metricName: string): EngineFrame =>
  json(FRAME_METADATA, { tenant: "default", metricName, type: "gauge", unit: "By", help: "" });
const rows = (rig: Rig, table: string) => (rig.control.contents.get(table) ?? rig.series.contents.get(table))?.size ?? 0;
const letters = async (rig: Rig) => (await rig.ask("deadLetters", { reason: "unstorable" })).body.entries as Array<Record<string, unknown>>;

describe("a frame that cannot be stored", () => {
  it("of metadata with half a character is a dead letter with its payload, and its neighbours are stored", async () => {
    const rig = await Rig.open({ seriesGatherMs: 0 });
    await rig.take(
      metadata("before"),
      metadata("m\ud800"),
      metadata("behind"),
      record(),
      logMark({ epoch: 1, lane: 0, segment: 1, offset: 8 }),
    );
    expect(rig.coordinator.loadMetadata().map(({ metricName }) => metricName)).toEqual(["before", "behind"]);
    expect([rows(rig, "records"), rows(rig, "lane_marks")]).toEqual([1, 1]);
    expect(await letters(rig)).toMatchObject([
      { reason: "unstorable", topic: "storage", payload: { metricName: "m\ud800", type: "gauge", unit: "By" } },
    ]);
    expect(rig.counter("setAside")).toBe(1);
    const lines = rig.messages.filter((message) => message.type === "log" && message.level === "warn");
    expect(lines).toMatchObject([{ msg: expect.stringContaining("set aside 1 thing that engines have sent") }]);
  });

  it("of metadata named by 1,024 zeros is one too", async () => {
    const rig = await Rig.open();
    await rig.take(metadata("\0".repeat(1024)));
    expect(await letters(rig)).toHaveLength(1);
  });

  it("for control leaves the others, and is a letter of its tenant where it says whose it is", async () => {
    const rig = await Rig.open();
    const letterOfNobody = json(FRAME_DEAD_LETTER, { tenant: "default", id: "no id" });
    await rig.take(
      episode({ metricName: "a" }),
      json(FRAME_VERDICT, { tenant: "default", episodeId: "no id", transition: "open" }),
      letterOfNobody,
      episode({ metricName: "b" }),
      record(),
    );
    expect([rows(rig, "anomalies"), rows(rig, "records"), rows(rig, "dead_letters")]).toEqual([2, 1, 1]);
    expect(await letters(rig)).toMatchObject([{ payload: { episodeId: "no id" } }]);
  });

  it("that says no tenant is kept as bytes, as a fault", async () => {
    const kept: SetAsideItem[] = [];
    const faults: RetainedDataFault[] = [];
    const keeper = {
      faults,
      open: 0,
      add: (fault: Pick<RetainedDataFault, "id" | "kind" | "what">) => faults.push({ ...fault, sinceMs: 0, acknowledged: null }) > 0,
      acknowledge: () => 0,
    };
    const setAsideKeeper = { keep: (item: SetAsideItem) => `set-aside/${kept.push(item)}` };
    const rig = await Rig.open({ faultKeeper: keeper, setAsideKeeper });
    const noJson = { kind: FRAME_RECORD, payload: Uint8Array.of(1, 2, 3) };
    const noBlock = { kind: FRAME_BLOCK, payload: Uint8Array.of(1) };
    await rig.take(noJson, noBlock, record());
    expect(rows(rig, "records")).toBe(1);
    expect(kept.map(({ bytes }) => [...bytes])).toEqual([[1, 2, 3], [1]]);
    expect(faults).toMatchObject([
      { kind: "set_aside", what: expect.stringMatching(/^a record .*; it was set aside, its bytes are kept in set-aside\/1$/) },
      { kind: "set_aside" },
    ]);
  });

  it("is a letter after a restart too, once, and is not read again", async () => {
    const rig = await Rig.open();
    await rig.take(metadata("m\ud800"), deadLetter());
    const next = await rig.restarted();
    await next.take(metadata("fine"));
    expect(await letters(next)).toHaveLength(1);
    expect(rows(next, "dead_letters")).toBe(2);
  });
});

const frames = (kinds: readonly number[]) => kinds.map((kind, at) => ({ kind, payload: Uint8Array.of(at) }));

describe("sifting", () => {
  it("finds any frames that stand in the way, alone or behind others, and never refuses one that does not", () => {
    const bad = fc.uniqueArray(fc.nat(39), { maxLength: 6 });
    const pair = fc.option(fc.tuple(fc.nat(39), fc.nat(39)), { nil: undefined });
    fc.assert(
      fc.property(bad, pair, (alone, together) => {
        const all = frames(Array.from({ length: 40 }, () => FRAME_RECORD));
        const make = (some: readonly EngineFrame[]) => {
          const held = new Set(some.map(({ payload }) => payload[0] as number));
          if (alone.some((at) => held.has(at))) throw new RangeError("alone");
          if (together !== undefined && together[0] !== together[1] && together.every((at) => held.has(at)))
            throw new RangeError("together");
          return some.length;
        };
        let left: readonly EngineFrame[] = all;
        for (;;) {
          try {
            makeOfFrames(left, make);
            break;
          } catch (error) {
            if (!(error instanceof UnstorableFramesError)) throw error;
            const refused = new Set(error.unstorable.map(({ frame }) => frame));
            left = left.filter((frame) => !refused.has(frame));
          }
        }
        const isPair = together !== undefined && together[0] !== together[1] && !together.some((at) => alone.includes(at));
        expect(left.length).toBe(40 - alone.length - (isPair ? 1 : 0));
      }),
    );
  });

  it("leaves to the store what is the store's, and to fail-stop what says that others are stored", () => {
    const full = () => {
      throw new StoreError("commit", "ENOSPC");
    };
    expect(() => makeOfFrames(frames([FRAME_RECORD]), full)).toThrow(StoreError);
    const broken = () => {
      throw new Error("defect");
    };
    expect(() => makeOfFrames(frames([FRAME_DEAD_LETTER, FRAME_CHECKPOINT]), broken)).toThrow("defect");
    expect(() => makeOfFrames(frames([99]), broken)).toThrow("defect");
  });
});
