// `vedette check-config`: every setting of environment and file is read as a start reads it, and each that cannot be used is named.
// Settings that work and that an operator may not have meant: a server that others reach without a credential, and messages without a link.
import { readSettingFile } from "../adapters/credentials/setting-file.ts";
import { ConfigError } from "../core/config/config-error.ts";
import { loadConfig, SETTINGS } from "../core/config/load-config.ts";
import { resolveSettings, type SettingsFile } from "../core/config/settings-sources.ts";
import { checkSettings } from "../server/checked-settings.ts";
import { EXIT } from "../server/exit-code.ts";
import { writeError, writeLine } from "../server/terminal.ts";
import { writeJson } from "./client/table-text.ts";
import type { CommandArguments } from "./command-arguments.ts";

/** Settings that bring a channel. */
const CHANNELS = ["CHAT_WEBHOOKS", "CHAT_WEBHOOK_URL", "PAGER_ROUTING_KEY", "SMTP_URL", "ALERTOPS_API_KEY"] as const;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** Findings of the check. */
export interface SettingsReport {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** Names of the settings that are not at their default. */
  readonly set: readonly string[];
}

/** Checks settings and reports all problems at once. */
export function checkAllSettings(environment: Environment, file: SettingsFile | undefined): SettingsReport {
  const problems: string[] = [];
  const { environment: input, warnings } = resolveSettings(environment, file, (problem) => problems.push(problem));
  const set = SETTINGS.map(({ name }) => name).filter((name) => input[name] !== undefined || input[`${name}_FILE`] !== undefined);
  const left = new Map(Object.entries(input));
  // Each round finds one, which the next leaves out: what others of them say is still to be found.
  for (let iteration = 0; iteration <= SETTINGS.length; iteration++) {
    const [problem] = problemOf(() => checkSettings(loadConfig(Object.fromEntries(left), readSettingFile)));
    if (problem === undefined) break;
    problems.push(problem);
    const name = /^(?:VEDETTE_)?([A-Z][A-Z0-9_]+)/.exec(problem)?.[1] ?? "";
    if (!left.delete(name) && !left.delete(`${name}_FILE`)) break;
    left.delete(`${name}_FILE`);
  }
  return { problems, warnings: [...warnings, ...exposureWarnings(input)], set };
}

/** Shows the report; exit code 78 where there are problems. */
export function runCheckConfig(input: CommandArguments, environment: Environment, file: SettingsFile | undefined): number {
  const report = checkAllSettings(environment, file);
  const where = file === undefined ? "the environment" : `${file.path} and the environment`;
  if (input.has("json")) writeJson({ source: where, ...report });
  else {
    for (const warning of report.warnings) writeError(`warning: ${warning}`);
    for (const problem of report.problems) writeError(`problem: ${problem}`);
    if (report.problems.length === 0)
      writeLine(`${where}: in order, ${report.set.length} settings are set${report.set.length === 0 ? "" : `: ${report.set.join(", ")}`}`);
  }
  return report.problems.length === 0 ? EXIT.ok : EXIT.setting;
}

function problemOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

function messageOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  throw error;
}

type ExposureSettings = Readonly<Record<string, string | undefined>>;

/** One sentence for each. */
function exposureWarnings(settings: ExposureSettings): string[] {
  const { HOST = "127.0.0.1", INGEST_AUTH = "optional", READ_AUTH = "loopback", ALERTS_HOST = "127.0.0.1", PUBLIC_URL = "" } = settings;
  const warnings: string[] = [];
  if (!LOOPBACK.test(HOST) && INGEST_AUTH !== "required") {
    const behind = READ_AUTH === "required" ? "" : ", and READ_AUTH=required, so that no proxy on this machine reads for others";
    warnings.push(
      `HOST=${HOST} is open to others and INGEST_AUTH is not required: whoever reaches it writes telemetry; set INGEST_AUTH=required${behind}`,
    );
  }
  if (!LOOPBACK.test(ALERTS_HOST))
    warnings.push(`ALERTS_HOST=${ALERTS_HOST} is open to others: whoever reaches it declares alerts, without a credential`);
  const channels = CHANNELS.filter((name) => (settings[name] ?? settings[`${name}_FILE`] ?? "") !== "");
  if (channels.length > 0 && PUBLIC_URL === "")
    warnings.push(
      `${channels.join(", ")} ${channels.length === 1 ? "is" : "are"} set and PUBLIC_URL is not: messages have no link to the alert's page`,
    );
  return warnings;
}
