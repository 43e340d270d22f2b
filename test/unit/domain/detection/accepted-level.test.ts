// How the long baseline says that a departure has become the level, and how messages say it.
import { describe, expect, it } from "vitest";
import type { EpisodeFrame } from "../../../../src/core/protocol/coordinator-frame.ts";
import { endText } from "../../../../src/domain/alerting/paging/end-text.ts";
import { anomalyIdOf, applyEpisode } from "../../../../src/domain/anomaly/anomaly.ts";
import { endingOf } from "../../../../src/domain/anomaly/ending.ts";
import { PairFindings } from "../../../../src/domain/backtest/tracks/pair-findings.ts";
import { generator } from "../../../support/generator.ts";

const START_MS = 1_700_000_000_000;
const MINUTE_MS = 60_000;

/** Frames of a series that stays at 100 for a day and a half and is at `level` for `minutes` then, and at 100 again for an hour. */
function framesOf(level: number, minutes: number): EpisodeFrame[] {
  const { normal } = generator(11);
  const name = { tenant: "t", environment: "", serviceId: "shop", metricName: "latency", attributes: {} };
  const findings = new PairFindings(name, "both");
  const levels = [...Array<number>(2000).fill(100), ...Array<number>(minutes).fill(level), ...Array<number>(60).fill(100)];
  return levels.flatMap((at, minute) => {
    const timeMs = START_MS + minute * MINUTE_MS;
    findings.observe(timeMs, at + normal());
    return findings.reported(timeMs).filter((frame): frame is EpisodeFrame => "transition" in frame);
  });
}

describe("a departure of the long baseline", () => {
  it("D3 closes with the old and the new value once it has lasted six hours, and says so", () => {
    const [open, close] = framesOf(130, 400).filter(({ transition }) => transition !== "update") as [EpisodeFrame, EpisodeFrame];
    expect(close.level?.from).toBeCloseTo(100, -1);
    expect(close.level?.to).toBeCloseTo(130, -1);
    const opened = applyEpisode({ episode: undefined, anomaly: undefined, id: anomalyIdOf(open) }, open, 1);
    const { anomaly } = applyEpisode({ episode: opened.episode, anomaly: opened.anomaly }, close, 2);
    expect(anomaly).toMatchObject({ resolvedBy: "accepted", level: close.level });
    const words = endText(endingOf(anomaly?.resolvedBy ?? "", anomaly?.level), { detector: "adaptive" });
    expect(words).toMatch(/^new level: from (99|100|101)\S* to 1(29|30)\S*$/);
  });

  it("closes without one when it is back before", () => {
    const closes = framesOf(130, 100).filter(({ transition }) => transition === "close");
    expect(closes.map(({ level }) => level)).toEqual([undefined]);
  });
});
