// The stages of a Watchdog cycle, in their order (rule 1.1.1): the engines' passes, then what the coordinator itself looks at.
import { ArrivalsStage } from "./arrivals/arrivals-stage.ts";
import { CascadeStage } from "./cascade/cascade-stage.ts";
import { SaturationStage } from "./saturation/saturation-stage.ts";
import { SloStage } from "./slo/slo-stage.ts";
import type { StagesContext } from "./stages-context.ts";
import { enginePass, type WatchdogStage } from "./watchdog.ts";

export interface StagesOptions {
  /** SATURATION_DETECTOR_ENABLED. */
  readonly saturationEnabled?: boolean;
}

export function watchdogStages(options: StagesOptions, context: StagesContext): readonly WatchdogStage[] {
  return [
    enginePass("pairs", 1, context),
    enginePass("services", 1, context),
    new ArrivalsStage(context),
    ...(options.saturationEnabled === false ? [] : [new SaturationStage(context, context.state.configured.fires)]),
    new SloStage(context),
    new CascadeStage(context),
  ];
}
