// `vedette --help`: commands and settings, the latter made from the table that reads them; `vedette COMMAND --help`: the command's lines.
import { describeSettings } from "../core/config/load-config.ts";

const HELP = `vedette: finds anomalies in telemetry as it arrives, and says why.

  vedette [serve]     start the server
  vedette demo        send 40 minutes of made-up telemetry in ten seconds to a running server, with planted anomalies; show what was found
  vedette demo-incident
                      break a made-up shop in five ways, for two minutes, and show which cause a running server names for each
  vedette import FILE send a file of history (CSV, Prometheus query JSON, OTLP JSON) to a running server; it goes on where it was broken off
                      [--url http://127.0.0.1:8080] [--token TOKEN | --token-file PATH] [--format csv|json] [--progress-file PATH]
  vedette token       make a token with the server's own secret: [--role viewer] [--tenant default] [--subject cli] [--expires 1h]
  vedette replay FILE run a file or folder of samples (CSV, CSV.gz: timestamp,value or timestamp,m1,...,mN) through the detectors on a virtual clock
                      and write timestamp,score,alert  [--train FILE] [--interval SECONDS] [--out FILE|FOLDER]
  vedette backtest    tell what changed settings would newly page and what no longer, over what a running server has stored or over a file
                      (of import's or of replay's form):
                      [FILE] --since TIME --until TIME [--service ID] [--metric NAME] [--set z_threshold=4]... [--json] [--url URL] [--token TOKEN]
                      [--silence 'service_id=checkout@FROM/TO']... [--remove-silence ID]...
                      (a URL of any command may be unix:/run/vedette.sock, the server's SOCKET)
  vedette doctor      tell what of a data folder can be read, and write that into a new one: --data DIR [--rescue NEW_DIR]
  vedette --version
  vedette --help

Settings are environment variables (name, default, meaning):
${describeSettings()}`;

const HELP_WORDS: ReadonlySet<string> = new Set(["--help", "-h", "help"]);

/** What to print where help is asked for, undefined where it is not. A command that is not known has the whole text. */
export function helpFor(command: string, rest: readonly string[]): string | undefined {
  if (HELP_WORDS.has(command)) return HELP;
  const end = rest.indexOf("--");
  const options = end < 0 ? rest : rest.slice(0, end);
  if (!options.includes("--help") && !options.includes("-h")) return undefined;
  const lines = HELP.split("\n");
  const first = lines.findIndex((line) => `${line} `.startsWith(`  vedette ${command} `));
  if (first < 0) return HELP;
  const length = lines.slice(first + 1).findIndex((line) => !line.startsWith("   "));
  return lines.slice(first, first + 1 + length).join("\n");
}
