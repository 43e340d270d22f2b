/** Who is added after those that store still follows what they store. */
import { expect, it } from "vitest";
import { CommitFollowers } from "../../../../../src/actors/coordinator/commits/commit-followers.ts";

it("informs followers in the order in which they were added, each of what it follows", () => {
  const followers = new CommitFollowers();
  const { latencyObserved, analysisDue } = followers.all;
  const calls: string[] = [];
  followers.add({ latencyObserved: (seconds) => calls.push(`metric ${seconds}`) });
  followers.add({
    latencyObserved: (seconds) => calls.push(`replay ${seconds}`),
    analysisDue: (found) => calls.push(`analysis ${found.length}`),
  });
  latencyObserved(3);
  analysisDue([]);
  expect(calls).toEqual(["metric 3", "replay 3", "analysis 0"]);
});
