// `vedette man`: vedette(1) in the macros of man(7), from the tables of commands and settings.
import { SETTINGS } from "../core/config/load-config.ts";
import { COMMAND_TABLE, COMMON_OPTIONS, type CommandOption } from "./command-table.ts";
import { optionForm, settingValues, synopsis } from "./help.ts";

/** The page; `version` stands at its foot. */
export function manualPage(version: string): string {
  const commands = COMMAND_TABLE.flatMap((entry) => [
    `.SS ${quoted(synopsis(entry))}`,
    `${escaped(entry.summary)}.`,
    ...entry.options.flatMap(optionLines),
  ]);
  const settings = SETTINGS.flatMap((setting) => [
    ".TP",
    `.B ${escaped(setting.name)}`,
    `${escaped(setting.meaning)} (${escaped(`${setting.initial === "" ? "" : `${setting.initial}; `}${settingValues(setting)}`)})`,
  ]);
  return [
    `.TH VEDETTE 1 "" "vedette ${version}" "User Commands"`,
    ".SH NAME",
    "vedette \\- anomaly detection engine for one machine",
    ".SH SYNOPSIS",
    ".B vedette",
    "[\\fICOMMAND\\fR] [\\fIOPTION\\fR]...",
    ".SH DESCRIPTION",
    "Takes telemetry by Prometheus remote-write, OTLP and JSON, finds anomalies as it arrives, says why, and tells people.",
    "Without a command it serves.",
    ".SH COMMANDS",
    ...commands,
    ".SH OPTIONS",
    ...COMMON_OPTIONS.flatMap(optionLines),
    ".SH SETTINGS",
    "VEDETTE_NAME in the environment goes before NAME, and both before a line NAME=VALUE of the file of \\-\\-config.",
    ...settings,
    ".SH EXIT STATUS",
    ...[
      ["0", "in order"],
      ["1", "problems were found"],
      ["2", "called wrongly"],
      ["69", "the server does not answer"],
      ["78", "a setting cannot be used"],
    ].flatMap(([code, meaning]) => [".TP", `.B ${code}`, meaning as string]),
    ".SH FILES",
    ".TP",
    ".I /etc/vedette/vedette.env",
    "settings of the service",
    ".TP",
    ".I /var/lib/vedette",
    "data of the service",
    "",
  ].join("\n");
}

function optionLines(option: CommandOption): string[] {
  return [".TP", `.B ${escaped(optionForm(option))}`, escaped(option.meaning)];
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', "\\(dq")}"`;
}

/** Text that roff takes for nothing else: its backslash, its hyphens, and a dot or quote that begins a line. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
}
