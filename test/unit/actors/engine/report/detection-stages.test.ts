// Stages of a detection count from the arrival of its bytes.
import { expect, it } from "vitest";
import { DetectionStages } from "../../../../../src/actors/engine/report/detection-stages.ts";

function makeStages() {
  const seen: Array<[string, number]> = [];
  const clock = { nowMs: 1_000 };
  const stages = new DetectionStages({ stage: (stage, seconds) => seen.push([stage, Math.round(seconds * 1000)]) }, () => clock.nowMs);
  return { seen, clock, stages };
}

it("each stage is timed from the arrival of the bytes to its end", () => {
  const { seen, clock, stages } = makeStages();
  stages.received(990);
  clock.nowMs = 1_003;
  stages.decoded();
  clock.nowMs = 1_004;
  stages.judged(990);
  clock.nowMs = 1_005;
  stages.framed(990);
  expect(seen).toEqual([
    ["received", 10],
    ["decoded", 13],
    ["judged", 14],
    ["framed", 15],
  ]);
});

it("of rows that another engine has decoded only what is known here, of no live body nothing", () => {
  const { seen, stages } = makeStages();
  stages.received(990);
  stages.judged(980);
  for (const arrivalMs of [0, -1]) {
    stages.judged(arrivalMs);
    stages.framed(arrivalMs);
  }
  expect(seen).toEqual([["judged", 20]]);
});
