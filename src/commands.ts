// The commands beside `serve`, by name: each of one file of cli, with what it needs of the tree, loaded when it is called: the server needs none of them.
import { ConfigError } from "./core/config/config-error.ts";
import type { Config } from "./core/config/load-config.ts";

/** What a command may need of the process. */
export interface CommandWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
  readonly readConfig: () => Config;
}

type Command = (rest: readonly string[], world: CommandWorld) => Promise<number>;

const COMMANDS: Readonly<Record<string, Command>> = {
  demo: async (rest, { environment }) => (await import("./cli/demo.ts")).runDemo(rest, environment),
  "demo-incident": async (rest, { environment }) => (await import("./cli/incident/demo-incident.ts")).runDemoIncident(rest, environment),
  import: async (rest, { environment, isTerminal }) => (await import("./cli/import/import.ts")).runImport(rest, environment, isTerminal),
  token: async (rest, { readConfig }) => (await import("./cli/token.ts")).runToken(rest, readConfig()),
  backtest: async (rest, { environment, readConfig }) =>
    (await import("./cli/backtest/backtest.ts")).runBacktest(rest, environment, readConfig),
  replay: async (rest, { readConfig }) => (await import("./cli/replay/replay.ts")).runReplay(rest, readConfig),
  doctor: async (rest) => {
    const { runDoctor } = await import("./cli/doctor/doctor.ts");
    const { CONTROL_TABLES, SERIES_TABLES } = await import("./actors/coordinator/state/tables.ts");
    const { RescuedCheckpoints } = await import("./actors/coordinator/state/rescued-checkpoints.ts");
    return runDoctor(rest, [
      { name: "control", tables: CONTROL_TABLES, mender: undefined },
      { name: "series", tables: SERIES_TABLES, mender: new RescuedCheckpoints() },
    ]);
  },
};

/** Runs a command and resolves with its exit code. Throws ConfigError where there is none of that name. */
export function runCommand(name: string, rest: readonly string[], world: CommandWorld): Promise<number> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new ConfigError(`unknown command ${JSON.stringify(name)}; vedette --help lists them`);
  return command(rest, world);
}
