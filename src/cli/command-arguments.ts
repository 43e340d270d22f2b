// The check of a command's arguments against the table, before the command sees them: a misspelt option is refused, and named the nearest.
import { parseArgs } from "node:util";
import { nearestName, suggestion } from "../core/text/nearest-name.ts";
import { UsageError } from "../server/exit-code.ts";
import { COMMAND_TABLE, COMMON_OPTIONS, type CommandEntry, type CommandOption, findCommand } from "./command-table.ts";

export interface CommandArguments {
  /** Value of an option. The last where it was given twice. */
  text(name: string): string | undefined;
  /** Whether a switch was given. */
  has(name: string): boolean;
  readonly operands: readonly string[];
}

/** A command line, taken apart. */
export interface CommandLine {
  readonly entry: CommandEntry;
  readonly arguments: CommandArguments;
  /** Arguments behind the command's name, without --config, for commands that take them apart themselves. */
  readonly rest: readonly string[];
  readonly configFile: string | undefined;
}

/** Takes a command line apart; `serve` where it names no command. Throws UsageError. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const { argv: bare, configFile } = withoutConfig(argv);
  const [first] = bare;
  const named = first === undefined || first.startsWith("-") ? ["serve", ...bare] : bare;
  const found = findCommand(named);
  if (found === undefined) throw unknownCommand(named);
  const rest = named.slice(found.length);
  return { entry: found.entry, arguments: checkArguments(found.entry, rest), rest, configFile };
}

function unknownCommand([first = "", second]: readonly string[]): UsageError {
  const names = COMMAND_TABLE.map(({ name }) => name);
  const subcommands = names.filter((name) => name.startsWith(`${first} `)).map((name) => name.slice(first.length + 1));
  if (subcommands.length > 0) {
    const input = second === undefined ? `vedette ${first} needs one of` : `vedette ${first} has no ${JSON.stringify(second)}; it has`;
    return new UsageError(`${input} ${subcommands.join(", ")}`);
  }
  const groupNames = new Set(names.map((name) => name.split(" ")[0] as string));
  return new UsageError(`unknown command ${JSON.stringify(first)}${suggestion(first, groupNames, "vedette ")} (vedette --help lists them)`);
}

/** --config may stand before the command's name too. */
function withoutConfig(argv: readonly string[]): { argv: string[]; configFile: string | undefined } {
  const bare: string[] = [];
  let configFile: string | undefined;
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] as string;
    if (word === "--") return { argv: [...bare, ...argv.slice(i)], configFile };
    if (word === "--config") configFile = argv[++i] ?? "";
    else if (word.startsWith("--config=")) configFile = word.slice("--config=".length);
    else bare.push(word);
  }
  if (configFile === "") throw new UsageError("--config needs a FILE");
  return { argv: bare, configFile };
}

function checkArguments(entry: CommandEntry, rest: readonly string[]): CommandArguments {
  const options = [...entry.options, ...COMMON_OPTIONS];
  const parsed = parseArgs({
    args: [...rest],
    options: Object.fromEntries(options.map(({ name, value }) => [name, { type: value === undefined ? "boolean" : "string" } as const])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const texts = new Map<string, string>();
  const switches = new Set<string>();
  for (const token of parsed.tokens) {
    if (token.kind !== "option") continue;
    const option = options.find(({ name }) => name === token.name);
    if (option === undefined) throw unknownOption(entry, token.rawName, options);
    if (option.value === undefined) switches.add(checkSwitch(option, token.value));
    else texts.set(option.name, checkValue(entry, option, { value: token.value, isInline: token.inlineValue === true }));
  }
  checkOperands(entry, parsed.positionals);
  return { text: (name) => texts.get(name), has: (name) => switches.has(name), operands: parsed.positionals };
}

function unknownOption({ name }: CommandEntry, input: string, options: readonly CommandOption[]): UsageError {
  const nearest = nearestName(
    input.replace(/^-+/, ""),
    options.map((option) => option.name),
  );
  const hint = nearest === undefined ? "" : `; did you mean --${nearest}?`;
  return new UsageError(`vedette ${name} has no option ${input}${hint} (vedette ${name} --help lists them)`);
}

function checkSwitch({ name }: CommandOption, value: string | undefined): string {
  if (value !== undefined) throw new UsageError(`--${name} takes no value`);
  return name;
}

function checkValue(
  entry: CommandEntry,
  { name, value: form, choices }: CommandOption,
  input: { readonly value: string | undefined; readonly isInline: boolean },
): string {
  const { value, isInline } = input;
  if (value === undefined || (!isInline && value.startsWith("-") && value !== "-"))
    throw new UsageError(`--${name} needs ${form}; vedette ${entry.name} --help says more`);
  if (choices !== undefined && !choices.includes(value))
    throw new UsageError(`--${name} must be one of ${choices.join(", ")}, not ${JSON.stringify(value)}${suggestion(value, choices)}`);
  return value;
}

function checkOperands({ name, operands = "", operandsMax = 0 }: CommandEntry, input: readonly string[]): void {
  if (input.length > operandsMax)
    throw new UsageError(
      `vedette ${name} takes ${operandsMax === 0 ? "no operand" : operands}, got ${JSON.stringify(input[operandsMax])} besides`,
    );
}
