// A short run of the fuzzer over every decoder, and the inputs of its corpus: seeds, and what once failed. `make fuzz` does the same a million times.
import { describe, expect, it } from "vitest";
import { runCampaign } from "../../fuzz/campaign.ts";
import { readCorpus } from "../../fuzz/corpus.ts";
import { runHttpCampaign } from "../../fuzz/http/http-campaign.ts";
import { replayLine } from "../../fuzz/replay-line.ts";
import { HTTP_CORPUS, HTTP_TARGETS, TARGETS } from "../../fuzz/target-list.ts";
import { uwsMissing } from "../../support/http-exchanges.ts";

const SEED = 7;
const INPUTS = 1_500;
const REQUESTS = 600;

describe("fuzzing", () => {
  it.each(Object.entries(TARGETS))("%s takes or refuses whatever comes, as its twin does", (name, make) => {
    const corpus = readCorpus(name).map(({ input }) => input);
    const { finding, accepted, inputs } = runCampaign(make(), { seed: SEED, inputs: INPUTS, corpus });
    if (finding !== undefined) {
      const line = replayLine({ target: name, seed: SEED, isHttp: false })
        .replace("REASON", "failed")
        .replace("COUNT", String(finding.index + 1));
      throw new Error(line, { cause: finding.error });
    }
    expect(inputs).toBe(INPUTS);
    expect(accepted).toBeGreaterThan(INPUTS / 20);
    expect(accepted).toBeLessThan(INPUTS);
  });

  it.each(Object.entries(HTTP_TARGETS).filter(([, kind]) => kind === "node" || uwsMissing === undefined))(
    "%s answers whole requests and survives damaged ones",
    async (name, kind) => {
      const corpus = readCorpus(HTTP_CORPUS).map(({ input }) => input);
      const { finding, inputs, features } = await runHttpCampaign(kind, { seed: SEED, inputs: REQUESTS, corpus });
      if (finding !== undefined) {
        const line = replayLine({ target: name, seed: SEED, isHttp: true })
          .replace("REASON", "failed")
          .replace("INDEX", String(finding.index));
        throw new Error(line, { cause: finding.error });
      }
      expect(inputs).toBeGreaterThanOrEqual(REQUESTS);
      expect(features).toBeGreaterThan(1);
    },
  );

  it("tells of a decoder that fails, by the number of the input", () => {
    const good = (TARGETS.rfc3339 as (typeof TARGETS)[string])();
    const calls: number[] = [];
    const broken = {
      ...good,
      check: (input: Uint8Array) => {
        if (calls.push(input.length) === 300) throw new Error("as planned");
        return good.check(input);
      },
    };
    const { finding } = runCampaign(broken, { seed: SEED, inputs: INPUTS, corpus: [] });
    expect(finding).toMatchObject({ index: 299, error: { message: "as planned" } });
    expect(finding?.input.length).toBe(calls[299]);
  });
});
