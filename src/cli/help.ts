// `vedette --help`: commands and settings; `vedette COMMAND --help`: the command's lines. Both are made from the tables that read arguments and settings.
import { SETTINGS, type Setting } from "../core/config/load-config.ts";
import { COMMAND_TABLE, COMMON_OPTIONS, type CommandEntry, type CommandOption, findCommand } from "./command-table.ts";

const COLUMNS = 100;
const NAME_COLUMNS = 24;
const HELP_FLAGS: ReadonlySet<string> = new Set(["--help", "-h", "help"]);

/** Text to print where help is asked for, undefined where it is not. A command that is not known has the whole text. */
export function helpFor(argv: readonly string[]): string | undefined {
  const [first = ""] = argv;
  if (HELP_FLAGS.has(first)) return wholeHelp();
  const end = argv.indexOf("--");
  const options = end < 0 ? argv : argv.slice(0, end);
  if (!options.includes("--help") && !options.includes("-h")) return undefined;
  const found = findCommand(argv);
  if (found !== undefined) return commandHelp(found.entry);
  const family = COMMAND_TABLE.filter(({ name }) => name.startsWith(`${first} `));
  return family.length === 0 ? wholeHelp() : family.map(commandHelp).join("\n\n");
}

/** A synopsis without options: `vedette silence add LABEL=VALUE...`. */
export function synopsis({ name, operands }: CommandEntry): string {
  return `vedette ${name}${operands === undefined ? "" : ` ${operands}`}`;
}

/** `--url URL`. */
export function optionForm({ name, value }: CommandOption): string {
  return `--${name}${value === undefined ? "" : ` ${value}`}`;
}

/** Values of a setting, in words. */
export function settingValues(setting: Setting): string {
  if (setting.kind === "number") return `${setting.least} to ${setting.most}`;
  if (setting.kind === "secret") return `secret; also ${setting.name}_FILE`;
  return setting.choices?.join(", ") ?? "text";
}

function wholeHelp(): string {
  const commands = COMMAND_TABLE.map((entry) => row(synopsis(entry).slice("vedette ".length), entry.summary));
  const settings = SETTINGS.map((setting) => {
    const initial = String(setting.initial) === "" ? "" : `${setting.initial}; `;
    return row(setting.name, `${setting.meaning} (${initial}${settingValues(setting)})`);
  });
  return [
    "vedette: finds anomalies in telemetry as it arrives, and says why.",
    "",
    "Usage: vedette [COMMAND] [OPTION]...      (vedette COMMAND --help says more)",
    "",
    "Commands:",
    ...commands,
    "",
    "Options of every command:",
    ...COMMON_OPTIONS.map((option) => row(optionForm(option), option.meaning)),
    row("--version", "print the version"),
    "",
    ...wrapped("Exit codes: 0 in order, 1 problems were found, 2 called wrongly, 69 the server does not answer, 78 a setting.", 0),
    "",
    ...wrapped(
      "Settings, with default and values. VEDETTE_NAME in the environment goes before NAME, and both before NAME=VALUE of the file of --config:",
      0,
    ),
    ...settings,
  ].join("\n");
}

function commandHelp(entry: CommandEntry): string {
  const options = [...entry.options, ...COMMON_OPTIONS].map((option) => row(optionForm(option), meaningOf(option)));
  return [`Usage: ${synopsis(entry)} [OPTION]...`, "", ...wrapped(`${entry.summary}.`, 0), "", "Options:", ...options].join("\n");
}

function meaningOf({ meaning, isRepeated }: CommandOption): string {
  return isRepeated === true ? `${meaning}; may be given several times` : meaning;
}

/** A name and what it means, in two columns; the name has a line of its own where it is long. */
function row(name: string, meaning: string): string {
  const lines = wrapped(meaning, NAME_COLUMNS + 2);
  const head = `  ${name}`;
  if (name.length >= NAME_COLUMNS) return [head, ...lines].join("\n");
  return [head.padEnd(NAME_COLUMNS + 2) + (lines[0] ?? "").trimStart(), ...lines.slice(1)].join("\n");
}

/** Lines of at most COLUMNS, broken between words. */
function wrapped(text: string, indent: number): string[] {
  const margin = " ".repeat(indent);
  const lines: string[] = [];
  let line = margin;
  for (const word of text.split(" ")) {
    if (line.length + 1 + word.length > COLUMNS && line.trim() !== "") {
      lines.push(line);
      line = margin;
    }
    line += line === margin ? word : ` ${word}`;
  }
  return [...lines, line];
}
