// The stages of a Watchdog cycle, in their order (rule 1.1.1): behind the z-scores, which are judged as samples come, first the services' models, then the pairs'
// long baselines, then what the coordinator itself looks at.
import type { FiringEpisodes, ServicesWanting } from "../../core/protocol/engine-control.ts";
import { DETECTOR_ADAPTIVE } from "../../domain/detection/pair/pair-verdict.ts";
import type { SaturationBooks } from "../../modules/saturation/saturation-context.ts";
import { SaturationStage } from "../../modules/saturation/saturation-stage.ts";
import type { StateWith } from "../../modules/state/stored-state.ts";
import type { WatchdogStage } from "../../modules/state/watchdog-stage.ts";
import { ArrivalsStage } from "../../modules/watchdog/arrivals/arrivals-stage.ts";
import { silentAlertsStage } from "../../modules/watchdog/arrivals/silent-alerts.ts";
import { CascadeStage } from "../../modules/watchdog/cascade/cascade-stage.ts";
import { engineStage } from "../../modules/watchdog/engine-stage.ts";
import { GroupWaits } from "../../modules/watchdog/group-waits.ts";
import { OpenAlerts } from "../../modules/watchdog/open-alerts.ts";
import { quietFindingsStage } from "../../modules/watchdog/quiet-findings.ts";
import { SloStage } from "../../modules/watchdog/slo/slo-stage.ts";
import type { StagesContext } from "../../modules/watchdog/stages-context.ts";
import { suppressedFindingsStage } from "../../modules/watchdog/suppressed-findings.ts";
import { ModelTraining } from "../../modules/watchdog/training/model-training.ts";

export interface StagesOptions {
  /** SATURATION_DETECTOR_ENABLED. */
  readonly saturationEnabled?: boolean;
  /** WATCHDOG_INTERVAL_SECONDS and RETENTION_RAW_DAYS in ms. */
  readonly watchdogIntervalMs?: number;
  readonly rawRetentionMs: number;
}

interface AllStagesContext extends StagesContext {
  readonly state: StagesContext["state"] & StateWith<unknown, SaturationBooks>;
}

/** The stages of a cycle, and the clock of waits for a group, which looks for cascades between cycles. */
export interface PagingStages {
  readonly stages: readonly WatchdogStage[];
  readonly groupWaits: GroupWaits;
}

export function watchdogStages(options: StagesOptions, context: AllStagesContext): PagingStages {
  const cascade = new CascadeStage(context);
  const adaptive = new OpenAlerts(DETECTOR_ADAPTIVE, {
    openEpisodes: context.state.anomalies.openEpisodes,
    settle: () => context.settle(),
    declare: (frames) => context.declare(frames),
  });
  const pairs = {
    ...context,
    take: (_engine: number, found: unknown) => {
      const { confirmed = [], ...firing } = found as FiringEpisodes;
      adaptive.take(firing);
      for (const pair of confirmed) context.paging.confirmations.take(pair, context.nowMs());
    },
  };
  const stages = [
    servicesStage(options, context),
    adaptive.after(engineStage("pairs", 1, pairs)),
    new ArrivalsStage(context),
    silentAlertsStage(context),
    ...(options.saturationEnabled === false ? [] : [new SaturationStage(context)]),
    new SloStage(context),
    cascade,
    quietFindingsStage(context),
    suppressedFindingsStage(context),
  ];
  return { stages, groupWaits: new GroupWaits(context, cascade) };
}

/** The pass over services, and the runner that gives it models. */
function servicesStage({ watchdogIntervalMs: intervalMs = 0, rawRetentionMs }: StagesOptions, context: StagesContext): WatchdogStage {
  const { train = () => Promise.reject(new Error("there is no thread for trainings")) } = context;
  const training = new ModelTraining({ intervalMs, rawRetentionMs }, { ...context, train: (input) => train(input) });
  const take = (engine: number, found: unknown) => {
    const { shadows = [], ...wanting } = found as ServicesWanting;
    context.requested.takeCounts(shadows);
    training.take(engine, wanting);
  };
  return engineStage("services", 1, { ...context, take });
}
