// `vedette completion`: a script for bash or zsh that completes commands, options and their values, from the table of commands.
import { UsageError } from "../server/exit-code.ts";
import { COMMAND_TABLE, COMMON_OPTIONS, type CommandEntry } from "./command-table.ts";

/** The script for a shell. Throws UsageError where there is none. */
export function completionScript(shell: string | undefined): string {
  if (shell === "bash")
    return `# Completion of vedette for bash, made from its table of commands.\n${bashFunction("_vedette")}\ncomplete -F _vedette vedette`;
  if (shell === "zsh") return zshScript();
  throw new UsageError(`vedette completion needs bash or zsh${shell === undefined ? "" : `, not ${JSON.stringify(shell)}`}`);
}

function groupNames(): string[] {
  return [...new Set(COMMAND_TABLE.map(({ name }) => name.split(" ")[0] as string))];
}

/** Second words by first word. */
function subcommands(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name } of COMMAND_TABLE) {
    const [first = "", second] = name.split(" ");
    if (second !== undefined) found.set(first, [...(found.get(first) ?? []), second]);
  }
  return found;
}

function optionsOf(entry: CommandEntry): string {
  return [...entry.options, ...COMMON_OPTIONS].map(({ name }) => `--${name}`).join(" ");
}

/** Cases of `command:--option` with the values that it takes. */
function choiceCases(): string[] {
  return COMMAND_TABLE.flatMap((entry) =>
    entry.options.flatMap(({ name, choices }) =>
      choices === undefined ? [] : [`    "${entry.name}:--${name}") words="${choices.join(" ")}" ;;`],
    ),
  );
}

/** Options whose value is a file or a folder. */
function pathCases(): string[] {
  const names = new Set<string>();
  for (const { options } of [...COMMAND_TABLE, { options: COMMON_OPTIONS }])
    for (const { name, value = "" } of options) if (/FILE|PATH|DIR|FOLDER/.test(value)) names.add(`--${name}`);
  return [`    ${[...names].join("|")}) COMPREPLY=($(compgen -f -- "$current")); return ;;`];
}

/** A function that sets COMPREPLY, by the variables that bash sets. */
function bashFunction(name: string): string {
  // A first word that is a command by itself has options beside its second words.
  const own = (first: string) => COMMAND_TABLE.filter((entry) => entry.name === first).map(optionsOf);
  const seconds = [...subcommands()].map(([first, list]) => `    ${first}) words="${[...list, ...own(first)].join(" ")}" ;;`);
  return `${name}() {
  local current previous command words
  current=\${COMP_WORDS[COMP_CWORD]}
  previous=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${groupNames().join(" ")} --help --version --config" -- "$current"))
    return
  fi
  case "$previous" in
${pathCases().join("\n")}
  esac
  command=\${COMP_WORDS[1]}
  words=
  if [ "$COMP_CWORD" -eq 2 ]; then case "$command" in
${seconds.join("\n")}
    completion) words="bash zsh" ;;
  esac; fi
  case "$command" in ${[...subcommands().keys()].join("|")}) [ "$COMP_CWORD" -gt 2 ] && [[ "\${COMP_WORDS[2]}" != -* ]] && command="$command \${COMP_WORDS[2]}" ;; esac
  case "$command:$previous" in
${choiceCases().join("\n")}
  esac
  if [ -z "$words" ]; then case "$command" in
${COMMAND_TABLE.map((entry) => `    "${entry.name}") words="${optionsOf(entry)}" ;;`).join("\n")}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ \${#COMPREPLY[@]} -eq 0 ] && [[ "$current" != -* ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}`;
}

/** zsh runs the function of bash by its own emulation. Its text is a file of fpath, which runs at the first completion and must complete then, or is evaluated. */
function zshScript(): string {
  return `#compdef vedette
autoload -U +X bashcompinit && bashcompinit
${bashFunction("_vedette_words")}
if [ "\${funcstack[1]}" = _vedette ]; then _bash_complete -F _vedette_words; else complete -F _vedette_words vedette; fi`;
}
