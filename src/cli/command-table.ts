// Every command with its operands and options: what `--help`, completion, the man page and the check of arguments are made from. @data-table

/** An option. Without `value` it is a switch. */
export interface CommandOption {
  readonly name: string;
  /** Placeholder of its value in the help. */
  readonly value?: string;
  readonly meaning: string;
  readonly isRepeated?: boolean;
  readonly choices?: readonly string[];
}

/** A command; its name may have two words. */
export interface CommandEntry {
  readonly name: string;
  /** As the help shows them. */
  readonly operands?: string;
  /** Number of arguments allowed; none where it is missing. */
  readonly operandsMax?: number;
  readonly summary: string;
  readonly options: readonly CommandOption[];
}

const JSON_OUT: CommandOption = { name: "json", meaning: "write the answer as JSON" };
const URL_OPTION: CommandOption = {
  name: "url",
  value: "URL",
  meaning: "the server, http(s)://host:port or unix:/path (VEDETTE_URL; else SOCKET, or HOST and PORT)",
};
const TOKEN: CommandOption = { name: "token", value: "TOKEN", meaning: "token or API key to ask with (VEDETTE_TOKEN)" };
const TOKEN_FILE: CommandOption = {
  name: "token-file",
  value: "PATH",
  meaning: "file that holds it (VEDETTE_TOKEN_FILE; else admin-token of DATA_DIR, for the server of the settings)",
};
const TENANT: CommandOption = { name: "tenant", value: "ID", meaning: "ask for another tenant than the token's (VEDETTE_TENANT)" };
const ASKING = [URL_OPTION, TOKEN, TOKEN_FILE, TENANT, JSON_OUT] as const;
const ALERT_LABELS: readonly CommandOption[] = [
  { name: "service", value: "ID", meaning: "service_id" },
  { name: "environment", value: "NAME", meaning: "environment" },
];
const SEVERITY: CommandOption = { name: "severity", value: "TIER", meaning: "low, medium or high", choices: ["low", "medium", "high"] };

const LINTS = ["all", "duplicate-rules", "none"] as const;
const IGNORE_UNKNOWN: CommandOption = { name: "ignore-unknown-fields", meaning: "leave fields out that are not known" };
const COMMENT: CommandOption = { name: "comment", value: "TEXT", meaning: "why" };
const ALERT_LIST: readonly CommandOption[] = [
  { name: "state", value: "STATE", meaning: "firing (default), resolved or all", choices: ["firing", "resolved", "all"] },
  SEVERITY,
  ...ALERT_LABELS,
  { name: "sort", value: "ORDER", meaning: "newest (default) or severity", choices: ["newest", "severity"] },
  { name: "limit", value: "N", meaning: "at most so many, up to 1000 (50)" },
  ...ASKING,
];

/** Options that every command takes. */
export const COMMON_OPTIONS: readonly CommandOption[] = [
  { name: "config", value: "FILE", meaning: "read settings from a file too, a NAME=VALUE a line (VEDETTE_CONFIG)" },
  { name: "help", meaning: "say what the command does" },
];

export const COMMAND_TABLE: readonly CommandEntry[] = [
  { name: "serve", summary: "Start the server; so does vedette without a command", options: [] },
  {
    name: "demo",
    operands: "[URL]",
    operandsMax: 1,
    summary: "Send 40 minutes of made-up telemetry with planted anomalies to a running server, in ten seconds, and show what was found",
    options: [
      { name: "live", meaning: "go on behind that, a sample every 15 s and an anomaly every three minutes, until Ctrl-C" },
      JSON_OUT,
    ],
  },
  {
    name: "demo-incident",
    operands: "[URL]",
    operandsMax: 1,
    summary: "Break a made-up shop in five ways, for two minutes, and show which cause a running server names for each",
    options: [JSON_OUT],
  },
  {
    name: "sign-in",
    summary: "Print the link that signs a browser in, once, within 15 minutes of the server's start",
    options: [JSON_OUT],
  },
  {
    name: "token",
    summary: "Make a token with the server's own secret",
    options: [
      {
        name: "role",
        value: "ROLE",
        meaning: "viewer (default), operator, admin, super_admin",
        choices: ["viewer", "operator", "admin", "super_admin", "system"],
      },
      { name: "tenant", value: "ID", meaning: "default where it is not given" },
      { name: "subject", value: "NAME", meaning: "whom the audit log names (cli)" },
      { name: "expires", value: "TIME", meaning: "such as 30m, 12h, 7d (1h)" },
      JSON_OUT,
    ],
  },
  { name: "status", summary: "Say how a running server is; exit code 1 where a part of it is not in order", options: ASKING },
  {
    name: "tail",
    summary: "Show anomalies and alerts as they come, until Ctrl-C",
    options: [
      ...ALERT_LABELS,
      { name: "only", value: "KIND", meaning: "anomaly or alert", choices: ["anomaly", "alert"] },
      { name: "count", value: "N", meaning: "end after N lines" },
      ...ASKING,
    ],
  },
  { name: "alerts", summary: "List alerts, newest first; so does vedette alerts list", options: ALERT_LIST },
  { name: "alerts list", summary: "List alerts, newest first", options: ALERT_LIST },
  {
    name: "alerts ack",
    operands: "ID...",
    operandsMax: 100,
    summary: "Acknowledge alerts that fire; exit code 1 where one of them is not",
    options: [COMMENT, ...ASKING],
  },
  {
    name: "alerts resolve",
    operands: "ID...",
    operandsMax: 100,
    summary: "End alerts with all that is open in them; exit code 1 where one of them is not there",
    options: [COMMENT, ...ASKING],
  },
  {
    name: "alerts accept",
    operands: "ID...",
    operandsMax: 100,
    summary: "Take the levels that alerts tell of for the usual ones; exit code 1 where one of them has none",
    options: [COMMENT, ...ASKING],
  },
  {
    name: "alerts snooze",
    operands: "ID...",
    operandsMax: 100,
    summary: "Call nobody about alerts for a while; exit code 1 where one of them is not there",
    options: [
      { name: "for", value: "TIME", meaning: "how long, such as 30m, 2h, up to 7d (1h)" },
      { name: "end", meaning: "end the snooze now" },
      COMMENT,
      ...ASKING,
    ],
  },
  {
    name: "anomalies",
    summary: "List anomalies, newest first",
    options: [
      { name: "state", value: "STATE", meaning: "open (default), resolved or all", choices: ["open", "resolved", "all"] },
      SEVERITY,
      ...ALERT_LABELS,
      { name: "metric", value: "NAME", meaning: "only this metric" },
      {
        name: "sort",
        value: "ORDER",
        meaning: "newest (default), oldest, score, severity",
        choices: ["newest", "oldest", "score", "severity"],
      },
      { name: "limit", value: "N", meaning: "at most so many, up to 1000 (50)" },
      ...ASKING,
    ],
  },
  {
    name: "drill",
    summary: "Send a planted spike the way of any page, to people, and say who was told; exit code 1 where it did not arrive",
    options: [
      { name: "channel", value: "CHANNEL", meaning: "tell this channel alone, such as pager or chat:ops" },
      { name: "rule", value: "ID", meaning: "tell the channels of this routing rule alone" },
      { name: "yes", meaning: "do not ask first: it wakes people" },
      ...ASKING,
    ],
  },
  {
    name: "silence add",
    operands: "LABEL=VALUE...",
    operandsMax: 64,
    summary: "Keep alerts with such labels quiet for a while; operators are =, !=, =~ and !~",
    options: [
      { name: "for", value: "TIME", meaning: "how long, such as 30m, 2h, 1d (1h)" },
      { name: "comment", value: "TEXT", meaning: "why" },
      ...ASKING,
    ],
  },
  {
    name: "silence list",
    summary: "List silences",
    options: [
      {
        name: "state",
        value: "STATE",
        meaning: "active (default), pending, expired or all",
        choices: ["active", "pending", "expired", "all"],
      },
      ...ASKING,
    ],
  },
  { name: "silence end", operands: "ID...", operandsMax: 64, summary: "End silences at once", options: ASKING },
  {
    name: "routes test",
    operands: "[LABEL=VALUE...]",
    operandsMax: 64,
    summary: "Say where an alert would go, and by which rule; no message is sent",
    options: [...ALERT_LABELS, SEVERITY, ...ASKING],
  },
  {
    name: "import",
    operands: "FILE",
    operandsMax: 1,
    summary: "Send a file of history (CSV, Prometheus query JSON, OTLP JSON) to a running server; it goes on where it was broken off",
    options: [
      URL_OPTION,
      { ...TOKEN, meaning: "the admin's token (VEDETTE_TOKEN)" },
      TOKEN_FILE,
      { name: "format", value: "FORM", meaning: "csv or json, where the file's name does not say it", choices: ["csv", "json"] },
      { name: "progress-file", value: "PATH", meaning: "where it is noted how far the import is (FILE.import-progress)" },
      { name: "json", meaning: "write the outcome as JSON; what happens meanwhile goes to standard error" },
    ],
  },
  {
    name: "replay",
    operands: "FILE|FOLDER",
    operandsMax: 1,
    summary: "Run samples (CSV, CSV.gz: timestamp,value or timestamp,m1,...,mN) through the detectors and write timestamp,score,alert",
    options: [
      { name: "train", value: "FILE", meaning: "normal history to learn from first" },
      { name: "interval", value: "SECONDS", meaning: "between rows without timestamps" },
      { name: "out", value: "FILE|FOLDER", meaning: "where scores go (standard output)" },
      { name: "json", meaning: "write a JSON object a row" },
    ],
  },
  {
    name: "backtest",
    operands: "[FILE]",
    operandsMax: 1,
    summary:
      "Compare which pages changed settings would add and which they would drop, over what a running server has stored or over a file",
    options: [
      { name: "since", value: "TIME", meaning: "first moment, such as 2026-01-31T12:00:00Z, or how long ago, such as 1h" },
      { name: "until", value: "TIME", meaning: "end, in the same forms (now)" },
      { name: "service", value: "ID", meaning: "only this service" },
      { name: "metric", value: "NAME", meaning: "only this metric" },
      { name: "environment", value: "NAME", meaning: "only this environment" },
      { name: "set", value: "NAME=VALUE", meaning: "a setting that is tried out, such as z_threshold=4", isRepeated: true },
      { name: "silence", value: "LABEL=VALUE@FROM/TO", meaning: "a silence that is tried out", isRepeated: true },
      { name: "remove-silence", value: "ID", meaning: "a silence that is left out", isRepeated: true },
      { name: "interval", value: "SECONDS", meaning: "between rows without timestamps" },
      URL_OPTION,
      { ...TOKEN, meaning: "an operator's token (VEDETTE_TOKEN)" },
      TOKEN_FILE,
      JSON_OUT,
    ],
  },
  {
    name: "eval",
    operands: "FILE|FOLDER",
    operandsMax: 1,
    summary: "Say how well these settings page on labelled samples of one's own: incidents found, false pages a day",
    options: [
      { name: "labels", value: "FILE", meaning: 'incidents as JSON, {"file.csv": [[from, to], ...]}, rows from 0 or moments' },
      { name: "interval", value: "SECONDS", meaning: "between rows without timestamps" },
      JSON_OUT,
    ],
  },
  {
    name: "query",
    operands: "EXPR",
    operandsMax: 1,
    summary:
      "Ask a running server for the value of a PromQL expression, or with --range for a small chart of each series; exit code 1 where it is refused",
    options: [
      {
        name: "time",
        value: "TIME",
        meaning: "moment, or end of the range: seconds, 2026-01-31T12:00:00Z, or how long ago such as 10m (now)",
      },
      { name: "range", value: "DURATION", meaning: "how long before that, such as 1h" },
      { name: "step", value: "DURATION", meaning: "between two values of a range (a sixtieth of it)" },
      ...ASKING,
    ],
  },
  {
    name: "promql format",
    operands: "EXPR",
    operandsMax: 1,
    summary: "Print a PromQL expression in its canonical form; exit code 1 where it is none, with line and column",
    options: [JSON_OUT],
  },
  {
    name: "promql eval",
    operands: "EXPR",
    operandsMax: 1,
    summary: "Evaluate a PromQL expression over series of a file; exit code 1 where it cannot be",
    options: [
      { name: "series", value: "FILE", meaning: 'series as lines: load 1m, then up{job="a"} 0+1x10 _ stale' },
      { name: "time", value: "TIME", meaning: "moment: seconds, 10m or 2026-01-31T12:00:00Z; values begin in 1970 (the last sample's)" },
      JSON_OUT,
    ],
  },
  {
    name: "rules check",
    operands: "FILE...",
    operandsMax: 10_000,
    summary: "Check files of Prometheus' rules as promtool does; exit code 1 where one has a fault, with its line",
    options: [
      { name: "lint", value: "KIND", meaning: "what else is said: all or duplicate-rules (the default), or none", choices: LINTS },
      { name: "lint-fatal", meaning: "end with 3 where that finds something" },
      IGNORE_UNKNOWN,
      JSON_OUT,
    ],
  },
  {
    name: "rules test",
    operands: "FILE...",
    operandsMax: 10_000,
    summary: "Run tests of Prometheus' rules in promtool's format; exit code 1 where one fails",
    options: [{ name: "run", value: "PATTERN", meaning: "those alone whose name matches" }, IGNORE_UNKNOWN, JSON_OUT],
  },
  {
    name: "backup",
    summary: "Have a running server make a backup of its data folder into BACKUP_DIR, and follow it to its end",
    options: [
      { name: "whole", meaning: "link nothing from the backup before" },
      { name: "list", meaning: "show the backups that there are, and make none" },
      ...ASKING,
    ],
  },
  {
    name: "restore",
    operands: "BACKUP",
    operandsMax: 1,
    summary: "Check every byte of a backup, and make a new data folder of it; exit code 1 where it is not as it was written",
    options: [
      { name: "check", meaning: "check and change nothing" },
      { name: "data", value: "NEW_DIR", meaning: "folder to restore into: missing or empty" },
      { name: "log", value: "DIR", meaning: "data folder that still has the log behind the backup, which is put behind it" },
      { name: "until", value: "TIME", meaning: "take of that log what arrived up to then, such as 2026-01-31T12:00:00Z" },
      JSON_OUT,
    ],
  },
  {
    name: "config export",
    summary: "Write the settings, labels, rules, webhooks, runbooks, budgets and known days of a tenant as one document, without secrets",
    options: [{ name: "out", value: "FILE", meaning: "where to (standard output)" }, ...ASKING],
  },
  {
    name: "config import",
    operands: "FILE",
    operandsMax: 1,
    summary: "Write what differs of such a document into a running server, and delete nothing; exit code 1 where an entry is refused",
    options: [{ name: "dry-run", meaning: "say what would change, and change nothing" }, ...ASKING],
  },
  {
    name: "config plan",
    operands: "FILE",
    operandsMax: 1,
    summary: "Say what of a running server differs from such a document; exit code 2 where something does, 1 where an entry cannot be used",
    options: [{ name: "prune", meaning: "what the document lacks is to be deleted" }, ...ASKING],
  },
  {
    name: "config apply",
    operands: "FILE",
    operandsMax: 1,
    summary: "Write what differs of such a document into a running server; exit code 1 where an entry is refused",
    options: [{ name: "prune", meaning: "delete what the document lacks" }, ...ASKING],
  },
  {
    name: "check-config",
    operands: "[FILE]",
    operandsMax: 1,
    summary: "Check the settings of the environment and of a file, all of them, and start nothing; exit code 78 where one cannot be used",
    options: [JSON_OUT],
  },
  {
    name: "doctor",
    summary:
      "Check this machine for a server: cores, limits, disk, clock, HTTP binary, ports, data folder; with --data, what of a data folder can be read",
    options: [
      { name: "data", value: "DIR", meaning: "read every row of stores and log in this folder; the server must be stopped" },
      { name: "rescue", value: "NEW_DIR", meaning: "write what can be read into a new folder" },
      { name: "json", meaning: "write what is found as JSON" },
    ],
  },
  {
    name: "completion",
    operands: "bash|zsh",
    operandsMax: 1,
    summary: 'Print what completes commands and options in a shell: eval "$(vedette completion bash)"',
    options: [],
  },
  { name: "man", summary: "Print the man page: vedette man | man -l -", options: [] },
];

/** The entry that begins `words`, and how many of them are its name. */
export function findCommand(argv: readonly string[]): { readonly entry: CommandEntry; readonly length: number } | undefined {
  for (const length of [2, 1]) {
    const entry = argv.length >= length ? COMMAND_TABLE.find(({ name }) => name === argv.slice(0, length).join(" ")) : undefined;
    if (entry !== undefined) return { entry, length };
  }
  return undefined;
}
