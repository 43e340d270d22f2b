// The commands beside `serve`, by name: each of one file of cli, with what it needs of the tree, loaded when it is called: the server needs none of them.
import { readFileSync } from "node:fs";
import type { CommandLine } from "./cli/command-arguments.ts";
import { EXIT } from "./cli/exit-code.ts";
import { ConfigError } from "./core/config/config-error.ts";
import type { Config } from "./core/config/load-config.ts";
import type { SettingsFile } from "./core/config/settings-sources.ts";

/** What a command may need of the process. */
export interface CommandWorld {
  /** The environment with the settings under their own names. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The environment as the process has it. */
  readonly processEnvironment: Readonly<Record<string, string | undefined>>;
  readonly settingsFile: SettingsFile | undefined;
  readonly isTerminal: boolean;
  readonly nowMs: () => number;
  readonly version: string;
  readonly readConfig: () => Config;
}

type Command = (line: CommandLine, world: CommandWorld) => Promise<number>;

const COMMANDS: Readonly<Record<string, Command>> = {
  demo: async (line, { environment }) => (await import("./cli/demo.ts")).runDemo(line.arguments, environment),
  "demo-incident": async (line, { environment }) =>
    (await import("./cli/incident/demo-incident.ts")).runDemoIncident(line.arguments, environment),
  import: async ({ rest }, { environment, isTerminal }) =>
    (await import("./cli/import/import.ts")).runImport(rest, environment, isTerminal),
  token: async ({ rest }, { readConfig }) => (await import("./cli/token.ts")).runToken(rest, readConfig()),
  backtest: async ({ rest }, { environment, readConfig }) =>
    (await import("./cli/backtest/backtest.ts")).runBacktest(rest, environment, readConfig),
  replay: async ({ rest }, { readConfig }) => (await import("./cli/replay/replay.ts")).runReplay(rest, readConfig),
  doctor: async (line, world) => {
    if (line.arguments.text("data") === undefined && line.arguments.text("rescue") === undefined) {
      const { runMachineCheck } = await import("./cli/doctor/machine-check.ts");
      return runMachineCheck(world.readConfig(), { isJson: line.arguments.has("json"), nowMs: world.nowMs() });
    }
    const { runDoctor } = await import("./cli/doctor/doctor.ts");
    const { CONTROL_TABLES, SERIES_TABLES } = await import("./actors/coordinator/state/tables.ts");
    const { RescuedCheckpoints } = await import("./actors/coordinator/state/rescued-checkpoints.ts");
    return runDoctor(line.rest, [
      { name: "control", tables: CONTROL_TABLES, mender: undefined },
      { name: "series", tables: SERIES_TABLES, mender: new RescuedCheckpoints() },
    ]);
  },
  "check-config": async (line, world) => {
    const [path] = line.arguments.operands;
    const file = path === undefined ? world.settingsFile : readSettingsFile(path);
    return (await import("./cli/check-config.ts")).runCheckConfig(line.arguments, world.processEnvironment, file);
  },
  "sign-in": async (line, { environment }) => (await import("./cli/client/sign-in.ts")).runSignIn(line.arguments, environment),
  status: async (line, { environment }) => (await import("./cli/client/status.ts")).runStatus(line.arguments, environment),
  tail: async (line, { environment }) => (await import("./cli/client/tail.ts")).runTail(line.arguments, environment),
  alerts: async (line, { environment }) => (await import("./cli/client/alerts.ts")).runAlerts(line.arguments, environment),
  "silence add": async (line, { environment, nowMs }) =>
    (await import("./cli/client/silence.ts")).addSilence(line.arguments, environment, nowMs()),
  "silence list": async (line, { environment }) => (await import("./cli/client/silence.ts")).listSilences(line.arguments, environment),
  "silence end": async (line, { environment }) => (await import("./cli/client/silence.ts")).endSilences(line.arguments, environment),
  "routes test": async (line, { environment }) => (await import("./cli/client/route-test.ts")).testRoute(line.arguments, environment),
  completion: async (line) => print((await import("./cli/completion.ts")).completionScript(line.arguments.operands[0])),
  man: async (_line, { version }) => print((await import("./cli/manual-page.ts")).manualPage(version)),
};

/** Runs a command and resolves with its exit code. */
export function runCommand(line: CommandLine, world: CommandWorld): Promise<number> {
  const command = COMMANDS[line.entry.name];
  if (command === undefined) throw new Error(`${line.entry.name} has no program`);
  return command(line, world);
}

/** Reads a file of settings. Throws ConfigError. */
export function readSettingsFile(path: string): SettingsFile {
  try {
    return { path, text: readFileSync(path, "utf8") };
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return EXIT.ok;
}
