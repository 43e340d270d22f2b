// What the handlers of people's actions on alerts use.
import type { Changing } from "../access/changes.ts";
import type { EndingContext } from "../anomalies/anomalies-context.ts";

export type AlertActionsContext = EndingContext & Changing;
