// Where settings come from: VEDETTE_NAME in the environment goes before NAME in the environment, and both before a line of the settings file, which may have
// either name. The file's form is that of systemd's EnvironmentFile: NAME=VALUE, quotes round the value or none, lines of comment after # or ;.

import { ownMember, setMember } from "../collections/own-member.ts";
import { editDistance, suggestion } from "../text/nearest-name.ts";
import { ConfigError } from "./config-error.ts";
import { SETTINGS, type Setting } from "./load-config.ts";

const PREFIX = "VEDETTE_";
/** Variables of the command line besides the settings, read with the prefix only. */
const COMMAND_VARIABLES = ["CONFIG", "URL", "TOKEN", "TOKEN_FILE", "TENANT", "CA_FILE"] as const;
/** Old names, of which load-config.ts tells the successor. */
const OLD_NAMES = ["AIOPS_WATCHDOG_INTERVAL"];
/** Shorter names resemble too much. */
const WARNED_LENGTH_MIN = 4;

type Environment = Readonly<Record<string, string | undefined>>;

/** A file of settings as it was read. */
export interface SettingsFile {
  readonly path: string;
  readonly text: string;
}

/** The settings by their own names, and what is to be said of names that look misspelt. */
export interface ResolvedSettings {
  readonly environment: Environment;
  readonly warnings: readonly string[];
}

/** Takes what is wrong with a name or a line. */
type Refuse = (problem: string) => void;

/** Throws it. */
const refuseAtOnce: Refuse = (problem) => {
  throw new ConfigError(problem);
};

/** Merges environment and file. A name with the prefix, or of the file, that is no setting goes to `refuse`, which throws ConfigError where it is not given. */
export function resolveSettings(environment: Environment, file?: SettingsFile, refuse: Refuse = refuseAtOnce): ResolvedSettings {
  const names = settingNames();
  const prefixed = namesWithPrefix(environment, names, refuse);
  const lines = file === undefined ? new Map<string, string>() : parseFile(file, names, refuse);
  const merged: Record<string, string | undefined> = {};
  // The weakest first; what a stronger source says of a secret takes both of its names away from the weaker ones.
  for (const source of [lines, bareNames(environment, names), prefixed]) {
    for (const name of source.keys()) for (const other of groupOf(name)) delete merged[other];
    for (const [name, value] of source) setMember(merged, name, value);
  }
  const others = Object.entries(environment).filter(([name]) => !names.has(name) && !name.startsWith(PREFIX));
  return {
    environment: { ...Object.fromEntries(others), ...commandVariables(environment), ...merged },
    warnings: warningsOf(environment, names),
  };
}

/** Names that a variable or a line may have, without the prefix. */
function settingNames(settings: readonly Setting[] = SETTINGS): ReadonlySet<string> {
  return new Set([...settings.flatMap(({ name, kind }) => (kind === "secret" ? [name, `${name}_FILE`] : [name])), ...OLD_NAMES]);
}

/** NAME and NAME_FILE stand for one secret. */
function groupOf(name: string): readonly string[] {
  const stem = name.replace(/_FILE$/, "");
  const isSecret = SETTINGS.some((setting) => setting.kind === "secret" && setting.name === stem);
  return isSecret ? [stem, `${stem}_FILE`] : [name];
}

function bareNames(environment: Environment, names: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of names) {
    const value = ownMember(environment, name);
    if (value !== undefined) found.set(name, value);
  }
  return found;
}

function namesWithPrefix(environment: Environment, names: ReadonlySet<string>, refuse: Refuse): Map<string, string> {
  const found = new Map<string, string>();
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith(PREFIX) || value === undefined) continue;
    const name = variable.slice(PREFIX.length);
    if (names.has(name)) found.set(name, value);
    else if (!(COMMAND_VARIABLES as readonly string[]).includes(name))
      refuse(`${variable} is no setting${suggestion(name, [...names, ...COMMAND_VARIABLES], PREFIX)} (vedette --help lists them)`);
  }
  return found;
}

function commandVariables(environment: Environment): Environment {
  return Object.fromEntries(COMMAND_VARIABLES.map((name) => [`${PREFIX}${name}`, environment[`${PREFIX}${name}`]]));
}

/** Settings of a file; what is no setting goes to `refuse`, with path and line. */
function parseFile({ path, text }: SettingsFile, names: ReadonlySet<string>, refuse: Refuse): Map<string, string> {
  const found = new Map<string, string>();
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    const where = `${path} line ${index + 1}`;
    const [, input = "", value = ""] = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(line) ?? [];
    const name = input.startsWith(PREFIX) ? input.slice(PREFIX.length) : input;
    if (input === "") refuse(`${where} is no NAME=VALUE`);
    else if (!names.has(name)) refuse(`${where}: ${input} is no setting${suggestion(name, names)} (vedette --help lists them)`);
    else if (found.has(name)) refuse(`${where}: ${input} was set above; keep one of the lines`);
    else found.set(name, unquoted(value, where, refuse));
  }
  return found;
}

/** The value without the quotes round it. */
function unquoted(value: string, where: string, refuse: Refuse): string {
  const [quote] = value;
  if (quote !== '"' && quote !== "'") return value;
  if (value.length < 2 || !value.endsWith(quote)) refuse(`${where}: the quote ${quote} has no end`);
  const inner = value.slice(1, -1);
  return quote === '"' ? inner.replaceAll(/\\(["\\])/g, "$1") : inner;
}

/** Bare names may be others' variables: one that is a letter off a setting is reported and no more. */
function warningsOf(environment: Environment, names: ReadonlySet<string>): string[] {
  return Object.keys(environment).flatMap((input) => {
    if (names.has(input) || input.startsWith(PREFIX) || input.length < WARNED_LENGTH_MIN) return [];
    const near = [...names].find((name) => Math.abs(name.length - input.length) <= 1 && editDistance(input, name) === 1);
    return near === undefined ? [] : [`${input} is set, which is no setting; did you mean ${near}?`];
  });
}
