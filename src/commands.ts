// The commands beside `serve`, by name: each of one file of cli, with what it needs of the tree, loaded when it is called: the server needs none of them.
import { readFileSync } from "node:fs";
import { trustServers } from "./adapters/http/server-fetch.ts";
import type { CommandLine } from "./cli/command-arguments.ts";
import { trustOf } from "./cli/own-server.ts";
import { ownMember } from "./core/collections/own-member.ts";
import { ConfigError } from "./core/config/config-error.ts";
import type { Config } from "./core/config/load-config.ts";
import { type ResolvedSettings, resolveSettings, type SettingsFile } from "./core/config/settings-sources.ts";
import { messageOf } from "./core/text/error-text.ts";
import { EXIT } from "./server/exit-code.ts";

/** What a command may need of the process. */
export interface CommandWorld {
  readonly settings: SettingsReader;
  readonly isTerminal: boolean;
  readonly nowMs: () => number;
  readonly version: string;
  readonly readConfig: () => Config;
}

/** Settings of the process's environment and of the file that --config or VEDETTE_CONFIG names. */
export class SettingsReader {
  readonly processEnvironment: Environment;
  readonly #path: string | undefined;

  constructor(environment: Environment, configFile: string | undefined) {
    this.processEnvironment = environment;
    this.#path = configFile ?? environment.VEDETTE_CONFIG;
  }

  /** The file as it stands now. Throws ConfigError where it cannot be read. */
  file(path = this.#path): SettingsFile | undefined {
    return path === undefined ? undefined : readSettingsFile(path);
  }

  /** Each call reads the file anew: SIGHUP takes over what has changed. Throws ConfigError. */
  resolve(): ResolvedSettings {
    return resolveSettings(this.processEnvironment, this.file());
  }

  /** The environment with the settings under their own names. */
  get environment(): Environment {
    return this.resolve().environment;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
type Command = (line: CommandLine, world: CommandWorld) => Promise<number>;

export const COMMANDS: Readonly<Record<string, Command>> = {
  demo: async (line, { settings }) => (await import("./cli/demo.ts")).runDemo(line.arguments, settings.environment),
  "demo-incident": async (line, { settings }) =>
    (await import("./cli/incident/demo-incident.ts")).runDemoIncident(line.arguments, settings.environment),
  import: async ({ rest }, { settings, isTerminal }) =>
    (await import("./cli/import/import.ts")).runImport(rest, settings.environment, isTerminal),
  token: async ({ rest }, { readConfig }) => (await import("./cli/token.ts")).runToken(rest, readConfig()),
  backtest: async ({ rest }, { settings, readConfig }) =>
    (await import("./cli/backtest/backtest.ts")).runBacktest(rest, settings.environment, readConfig),
  replay: async ({ rest }, { readConfig }) => (await import("./cli/replay/replay.ts")).runReplay(rest, readConfig),
  eval: async (line, { readConfig }) => (await import("./cli/eval/eval.ts")).runEval(line.arguments, readConfig()),
  doctor: async (line, world) => {
    if (line.arguments.text("data") === undefined && line.arguments.text("rescue") === undefined) {
      const { runMachineCheck } = await import("./cli/doctor/machine-check.ts");
      return runMachineCheck(world.readConfig(), { isJson: line.arguments.has("json"), nowMs: world.nowMs() });
    }
    const { runDoctor } = await import("./cli/doctor/doctor.ts");
    const { CONTROL_TABLES, SERIES_TABLES } = await import("./actors/coordinator/nouns/modules.ts");
    const { RescuedCheckpoints } = await import("./modules/state/rescued-checkpoints.ts");
    return runDoctor(line.rest, [
      { name: "control", tables: CONTROL_TABLES, mender: undefined },
      { name: "series", tables: SERIES_TABLES, mender: new RescuedCheckpoints() },
    ]);
  },
  backup: async (line, { settings, isTerminal, readConfig }) => {
    const { superAdminToken } = await import("./cli/token.ts");
    const ownToken = () => superAdminToken(readConfig(), "vedette-backup");
    return (await import("./cli/backup/backup.ts")).runBackup(line.arguments, { environment: settings.environment, isTerminal, ownToken });
  },
  restore: async (line) => {
    const { CONTROL_TABLES, SERIES_TABLES } = await import("./actors/coordinator/nouns/modules.ts");
    return (await import("./cli/backup/restore.ts")).runRestore(line.arguments, [
      { name: "control", tables: CONTROL_TABLES },
      { name: "series", tables: SERIES_TABLES },
    ]);
  },
  "config export": async (line, { settings }) =>
    (await import("./cli/client/configuration.ts")).exportConfiguration(line.arguments, settings.environment),
  "config import": async (line, { settings }) =>
    (await import("./cli/client/configuration.ts")).importConfiguration(line.arguments, settings.environment),
  "config plan": async (line, { settings }) =>
    (await import("./cli/client/configuration.ts")).planConfiguration(line.arguments, settings.environment),
  "config apply": async (line, { settings }) =>
    (await import("./cli/client/configuration.ts")).applyConfiguration(line.arguments, settings.environment),
  "check-config": async (line, world) => {
    const { settings } = world;
    const file = settings.file(line.arguments.operands[0]);
    return (await import("./cli/check-config.ts")).runCheckConfig(line.arguments, settings.processEnvironment, file);
  },
  "sign-in": async (line, { settings }) => (await import("./cli/client/sign-in.ts")).runSignIn(line.arguments, settings.environment),
  status: async (line, { settings }) => (await import("./cli/client/status.ts")).runStatus(line.arguments, settings.environment),
  tail: async (line, { settings }) => (await import("./cli/client/tail.ts")).runTail(line.arguments, settings.environment),
  alerts: async (line, { settings }) => (await import("./cli/client/alerts.ts")).runAlerts(line.arguments, settings.environment),
  "alerts list": async (line, { settings }) => (await import("./cli/client/alerts.ts")).runAlerts(line.arguments, settings.environment),
  "alerts ack": async (line, { settings }) =>
    (await import("./cli/client/alert-actions.ts")).acknowledgeAlerts(line.arguments, settings.environment),
  "alerts resolve": async (line, { settings }) =>
    (await import("./cli/client/alert-actions.ts")).resolveAlerts(line.arguments, settings.environment),
  "alerts accept": async (line, { settings }) =>
    (await import("./cli/client/alert-actions.ts")).acceptAlerts(line.arguments, settings.environment),
  "alerts snooze": async (line, { settings, nowMs }) =>
    (await import("./cli/client/alert-actions.ts")).snoozeAlerts(line.arguments, settings.environment, nowMs()),
  anomalies: async (line, { settings }) => (await import("./cli/client/anomalies.ts")).runAnomalies(line.arguments, settings.environment),
  drill: async (line, { settings }) => (await import("./cli/client/drill.ts")).runDrill(line.arguments, settings.environment),
  "silence add": async (line, { settings, nowMs }) =>
    (await import("./cli/client/silence.ts")).addSilence(line.arguments, settings.environment, nowMs()),
  "silence list": async (line, { settings }) =>
    (await import("./cli/client/silence.ts")).listSilences(line.arguments, settings.environment),
  "silence end": async (line, { settings }) => (await import("./cli/client/silence.ts")).endSilences(line.arguments, settings.environment),
  "routes test": async (line, { settings }) => (await import("./cli/client/route-test.ts")).testRoute(line.arguments, settings.environment),
  query: async (line, { settings, nowMs }) =>
    (await import("./cli/promql/promql-query.ts")).runQuery(line.arguments, settings.environment, nowMs()),
  "promql format": async (line) => (await import("./cli/promql/promql-format.ts")).runPromqlFormat(line.arguments),
  "promql eval": async (line, { nowMs }) => (await import("./cli/promql/promql-eval.ts")).runPromqlEval(line.arguments, nowMs),
  "rules check": async (line) => (await import("./cli/rules/rules-check.ts")).runRulesCheck(line.arguments),
  "rules test": async (line, { nowMs }) => (await import("./cli/rules/rules-test.ts")).runRulesTest(line.arguments, nowMs),
  completion: async (line) => print((await import("./cli/completion.ts")).completionScript(line.arguments.operands[0])),
  man: async (_line, { version }) => print((await import("./cli/manual-page.ts")).manualPage(version)),
};

/** Runs a command and resolves with its exit code. */
export function runCommand(line: CommandLine, world: CommandWorld): Promise<number> {
  const command = ownMember(COMMANDS, line.entry.name);
  if (command === undefined) throw new Error(`${line.entry.name} has no program`);
  trustServers((base) => trustOf(world.settings.environment)(base));
  return command(line, world);
}

/** Reads a file of settings. Throws ConfigError. */
function readSettingsFile(path: string): SettingsFile {
  try {
    return { path, text: readFileSync(path, "utf8") };
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return EXIT.ok;
}
