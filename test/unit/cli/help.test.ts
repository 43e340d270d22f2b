import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { readCommandLine } from "../../../src/cli/command-arguments.ts";
import { COMMAND_TABLE } from "../../../src/cli/command-table.ts";
import { completionScript } from "../../../src/cli/completion.ts";
import { helpFor } from "../../../src/cli/help.ts";
import { manualPage } from "../../../src/cli/manual-page.ts";
import { COMMANDS } from "../../../src/commands.ts";
import { SETTINGS } from "../../../src/core/config/load-config.ts";
import { UsageError } from "../../../src/server/exit-code.ts";

const COLUMNS = 100;

function helpText(...argv: string[]): string {
  const text = helpFor(argv);
  if (text === undefined) throw new Error(`no help for ${argv.join(" ")}`);
  return text;
}

describe("help", () => {
  it("has every command that there is", () => {
    const names = new Set(COMMAND_TABLE.map(({ name }) => name.split(" ")[0]));
    expect(Object.keys(COMMANDS).filter((name) => !names.has(name.split(" ")[0]))).toEqual([]);
  });

  it("is the whole text, or a command's own", () => {
    for (const whole of ["--help", "-h", "help"]) expect(helpFor([whole])).toMatch(/demo \[URL\][\s\S]*PORT/);
    const replay = helpText("replay", "--help");
    expect(replay).toMatch(/^Usage: vedette replay FILE\|FOLDER [\s\S]*--train FILE/);
    expect(replay).not.toMatch(/backtest|PORT/);
    expect(helpText("silence", "--help")).toMatch(/silence add[\s\S]*silence list[\s\S]*silence end/);
    expect(helpText("silence", "end", "-h")).not.toMatch(/silence add/);
    expect(helpText("nonsense", "--help")).toBe(helpText("--help"));
  });

  it("names every command, option and setting, in lines of at most 100 columns", () => {
    const whole = helpText("--help");
    for (const entry of COMMAND_TABLE) {
      expect(whole).toContain(`  ${entry.name}`);
      const own = helpText(...entry.name.split(" "), "--help");
      for (const { name } of entry.options) expect(own, entry.name).toContain(`--${name}`);
      for (const line of own.split("\n")) expect(line.length).toBeLessThanOrEqual(COLUMNS);
    }
    for (const { name } of SETTINGS) expect(whole.split(/\s/)).toContain(name);
    for (const line of whole.split("\n")) expect(line.length).toBeLessThanOrEqual(COLUMNS);
  });

  it("is not what arguments are taken for", () => {
    expect(helpFor(["replay", "a.csv"])).toBeUndefined();
    expect(helpFor(["replay", "--", "--help"])).toBeUndefined();
    expect(helpFor(["serve"])).toBeUndefined();
    expect(helpFor([])).toBeUndefined();
  });
});

describe("a command line", () => {
  it("is taken apart by the table", () => {
    const line = readCommandLine(["--config", "a.env", "silence", "add", "service_id=a", "--for", "2h", "--json", "env=~b.*"]);
    expect(line.entry.name).toBe("silence add");
    expect(line.configFile).toBe("a.env");
    expect(line.arguments.operands).toEqual(["service_id=a", "env=~b.*"]);
    expect(line.arguments.text("for")).toBe("2h");
    expect(line.arguments.has("json")).toBe(true);
    expect(readCommandLine([]).entry.name).toBe("serve");
    expect(readCommandLine(["--config=b.env"])).toMatchObject({ entry: { name: "serve" }, configFile: "b.env" });
    expect(readCommandLine(["replay", "--", "--odd.csv"]).arguments.operands).toEqual(["--odd.csv"]);
  });

  it("has --json for every command but those that serve or write a text for a program", () => {
    const without = COMMAND_TABLE.filter(({ options }) => !options.some(({ name }) => name === "json")).map(({ name }) => name);
    expect(without).toEqual(["serve", "completion", "man"]);
  });

  const refused: Array<[argv: string[], message: string]> = [
    [["sevre"], 'unknown command "sevre"; did you mean vedette serve? (vedette --help lists them)'],
    [["--prot", "1"], "vedette serve has no option --prot (vedette serve --help lists them)"],
    [
      ["alerts", "--severty", "high"],
      "vedette alerts has no option --severty; did you mean --severity? (vedette alerts --help lists them)",
    ],
    [["alerts", "--severity=hihg"], '--severity must be one of low, medium, high, not "hihg"; did you mean high?'],
    [["alerts", "--url", "--json"], "--url needs URL; vedette alerts --help says more"],
    [["alerts", "--json=yes"], "--json takes no value"],
    [["alerts", "now"], 'vedette alerts takes no operand, got "now" besides'],
    [["import", "a.csv", "b.csv"], 'vedette import takes FILE, got "b.csv" besides'],
    [["silence"], "vedette silence needs one of add, list, end"],
    [["silence", "remove"], 'vedette silence has no "remove"; it has add, list, end'],
    [["status", "--config"], "--config needs a FILE"],
  ];
  it.each(refused)("%j is refused in one line that says what was meant", (argv, message) => {
    expect(() => readCommandLine(argv)).toThrow(new UsageError(message));
  });
});

describe("completion", () => {
  /** What bash offers at the end of a line. */
  function offered(line: string): string[] {
    const argv = line.split(" ");
    const script = `${completionScript("bash")}\nCOMP_WORDS=(${argv.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${argv.length - 1}; _vedette; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const text = execFileSync("bash", ["--norc", "-c", script], { encoding: "utf8" });
    return text.split("\n").filter((word) => word !== "");
  }

  it("offers commands, their second words, options and values in bash", () => {
    expect(offered("vedette ba")).toEqual(["backtest", "backup"]);
    expect(offered("vedette silence ")).toEqual(["add", "list", "end"]);
    expect(offered("vedette silence add --f")).toEqual(["--for"]);
    expect(offered("vedette alerts --severity ")).toEqual(["low", "medium", "high"]);
    expect(offered("vedette alerts --s")).toEqual(["--state", "--severity", "--service", "--sort"]);
    expect(offered("vedette import packag")).toEqual(expect.arrayContaining(["package.json"]));
  });

  it("is known to zsh by its first line, and no other shell", () => {
    expect(completionScript("zsh")).toMatch(/^#compdef vedette\n/);
    expect(() => completionScript("fish")).toThrow('vedette completion needs bash or zsh, not "fish"');
  });
});

describe("the man page", () => {
  const page = manualPage("1.2.3");

  it("has every command and setting, and no line that roff takes for a request of its own", () => {
    for (const { name } of SETTINGS) expect(page).toContain(`\n.B ${name}\n`);
    for (const { name } of COMMAND_TABLE) expect(page).toContain(`.SS "vedette ${name.replaceAll("-", "\\-")}`);
    for (const line of page.split("\n")) expect(line).toMatch(/^(\.(TH|SH|SS|TP|B|I)\b|[^.'])|^$/);
  });
});
