// What the handlers of people's actions on alerts use.
import type { Changing } from "../access/changes.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnomalyBooks, EndingContext } from "../anomalies/anomalies-context.ts";
import type { OwnBodies } from "../engines/own-bodies.ts";
import type { Using } from "../queries/query-context.ts";

export type AlertActionsContext = EndingContext &
  Changing &
  Using<"engines", AnomalyBooks & AlertBooks> & { readonly own: Pick<OwnBodies, "send"> };
