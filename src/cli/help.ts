// `vedette --help`: commands and settings, the latter made from the table that reads them.
import { describeSettings } from "../core/config/load-config.ts";

/** The text of the help. */
export const HELP = `vedette: finds anomalies in telemetry as it arrives, and says why.

  vedette [serve]     start the server
  vedette demo        send 40 minutes of made-up telemetry in ten seconds to a running server, with planted anomalies; show what was found
  vedette --version
  vedette --help

Settings are environment variables (name, default, meaning):
${describeSettings()}`;
