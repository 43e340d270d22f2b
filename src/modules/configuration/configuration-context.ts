// What export and import of a configuration use: what the handlers of all its kinds do.
import type { LabelsContext } from "../labels/labels-context.ts";
import type { NotificationContext } from "../notification/notification-context.ts";
import type { PageReportContext } from "../notification/page-report-context.ts";
import type { PillarsContext } from "../pillars/pillars-context.ts";
import type { RunbooksContext } from "../runbooks/runbooks-context.ts";
import type { SaturationContext } from "../saturation/saturation-context.ts";
import type { SilencesContext } from "../silences/silences-context.ts";
import type { WatchdogContext } from "../watchdog/watchdog-context.ts";
import type { WebhooksContext } from "../webhooks/webhooks-context.ts";

export type ConfigurationContext = LabelsContext &
  NotificationContext &
  PageReportContext &
  PillarsContext &
  RunbooksContext &
  SaturationContext &
  SilencesContext &
  WatchdogContext &
  WebhooksContext;
