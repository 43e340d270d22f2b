// Several followers of anomalies as one.
import type { AnomalyFollower, AnomalyFollowing } from "./anomaly-follower.ts";

export function anomalyFollowers(followers: readonly AnomalyFollower[]): AnomalyFollower {
  return {
    follows: (tenant) => followers.some((one) => one.follows(tenant)),
    draft(): AnomalyFollowing {
      const drafts = followers.map((one) => one.draft());
      return {
        operations: (steps) => drafts.flatMap((draft) => draft.operations(steps)),
        apply() {
          for (const draft of drafts) draft.apply();
        },
      };
    },
  };
}
