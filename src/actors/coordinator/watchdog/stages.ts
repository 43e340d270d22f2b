// The stages of a Watchdog cycle, in their order (rule 1.1.1): the engines' passes, then what the coordinator itself looks at.
import type { ServicesWanting } from "../../../core/protocol/engine-control.ts";
import { SaturationStage } from "./saturation/saturation-stage.ts";
import type { StagesContext } from "./stages-context.ts";
import { TrainingDesk } from "./training/training-desk.ts";
import { enginePass, type WatchdogStage } from "./watchdog.ts";

export interface StagesOptions {
  /** SATURATION_DETECTOR_ENABLED. */
  readonly saturationEnabled?: boolean;
  /** WATCHDOG_INTERVAL_SECONDS and RETENTION_RAW_DAYS in ms. */
  readonly watchdogIntervalMs?: number;
  readonly rawRetentionMs: number;
}

export function watchdogStages(options: StagesOptions, context: StagesContext): readonly WatchdogStage[] {
  return [
    enginePass("pairs", 1, context),
    servicesPass(options, context),
    enginePass("arrivals", 1, context),
    ...(options.saturationEnabled === false ? [] : [new SaturationStage(context, context.state.configured.fires)]),
  ];
}

/** The pass over services, and the desk that gives it models. */
function servicesPass({ watchdogIntervalMs: intervalMs = 0, rawRetentionMs }: StagesOptions, context: StagesContext): WatchdogStage {
  const { train = () => Promise.reject(new Error("there is no thread for trainings")) } = context;
  const desk = new TrainingDesk({ intervalMs, rawRetentionMs }, { ...context, train: (job) => train(job) });
  return enginePass("services", 1, { ...context, take: (engine, found) => desk.take(engine, found as ServicesWanting) });
}
