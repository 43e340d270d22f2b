// What the coordinator folds of anomalies.
import type { NounModule } from "../state/noun-module.ts";
import { changeAnomaly, declareAnomaly } from "./anomaly-change-handlers.ts";
import { listAnomalies, oneAnomaly } from "./anomaly-handlers.ts";
import { expireAnomalies } from "./anomaly-retention.ts";

export const ANOMALIES = {
  tables: {
    control: {
      anomalies: { key: "tenant, detected time, id", value: "anomaly-row.ts: Anomaly" },
      anomaly_packs: { key: "that of the first row", value: "packed-rows.ts (adapters/storage): rows of anomalies" },
      episodes: { key: "episode id", value: "Episode, but of those that opened an anomaly, which stand in its row" },
      standing_episodes: { key: "episode id", value: "OpenEpisode: open ones of detectors that judge in cycles" },
      episode_times: { key: "committed time, episode id", value: "empty; the order in which episodes are forgotten" },
      annotations: { key: "tenant, anomaly id, execution id, u16 step", value: "Annotation: what a run noted at an anomaly" },
    },
  },
  expire: expireAnomalies,
  handlers: {
    anomalies: listAnomalies,
    anomaly: oneAnomaly,
    changeAnomaly,
    declareAnomaly,
  },
} as const satisfies NounModule;
