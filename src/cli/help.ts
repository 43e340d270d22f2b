// `vedette --help`: commands and settings, the latter made from the table that reads them.
import { describeSettings } from "../core/config/load-config.ts";

/** The text of the help. */
export const HELP = `vedette: finds anomalies in telemetry as it arrives, and says why.

  vedette [serve]     start the server
  vedette demo        send 40 minutes of made-up telemetry in ten seconds to a running server, with planted anomalies; show what was found
  vedette import FILE send a file of history (CSV, Prometheus query JSON, OTLP JSON) to a running server; it goes on where it was broken off
                      [--url http://127.0.0.1:8080] [--token TOKEN | --token-file PATH] [--format csv|json] [--progress-file PATH]
  vedette token       make a token with the server's own secret: [--role viewer] [--tenant default] [--subject cli] [--expires 1h]
  vedette replay FILE run a file or folder of samples (CSV, CSV.gz: timestamp,value or timestamp,m1,...,mN) through the detectors on a virtual clock
                      and write timestamp,score,alert  [--train FILE] [--interval SECONDS] [--out FILE|FOLDER]
  vedette backtest    tell what changed settings would newly page and what no longer, over what a running server has stored or over a file:
                      [FILE] --since TIME --until TIME [--service ID] [--metric NAME] [--set z_threshold=4]... [--json] [--url URL] [--token TOKEN]
                      [--silence 'service_id=checkout@FROM/TO']... [--remove-silence ID]...
  vedette --version
  vedette --help

Settings are environment variables (name, default, meaning):
${describeSettings()}`;
