// The commands beside `serve`, by name: each of one file of cli, with what it needs of the tree.
import { RescuedCheckpoints } from "./actors/coordinator/tables/rescued-checkpoints.ts";
import { CONTROL_READ_DICTIONARIES, CONTROL_TABLES, SERIES_TABLES } from "./actors/coordinator/tables/tables.ts";
import { runBacktest } from "./cli/backtest/backtest.ts";
import { runDemo } from "./cli/demo.ts";
import { runDoctor } from "./cli/doctor/doctor.ts";
import { runImport } from "./cli/import/import.ts";
import { runReplay } from "./cli/replay/replay.ts";
import { runToken } from "./cli/token.ts";
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
  demo: (rest, { environment }) => runDemo(rest, environment),
  import: (rest, { environment, isTerminal }) => runImport(rest, environment, isTerminal),
  token: (rest, { readConfig }) => runToken(rest, readConfig()),
  backtest: (rest, { environment, readConfig }) => runBacktest(rest, environment, readConfig),
  replay: (rest, { readConfig }) => runReplay(rest, readConfig),
  doctor: (rest) =>
    runDoctor(rest, [
      { name: "control", tables: CONTROL_TABLES, mender: undefined, compressed: CONTROL_READ_DICTIONARIES },
      { name: "series", tables: SERIES_TABLES, mender: new RescuedCheckpoints(), compressed: new Set<string>() },
    ]),
};

/** Runs a command and resolves with its exit code. Throws ConfigError where there is none of that name. */
export function runCommand(name: string, rest: readonly string[], world: CommandWorld): Promise<number> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new ConfigError(`unknown command ${JSON.stringify(name)}; vedette --help lists them`);
  return command(rest, world);
}
