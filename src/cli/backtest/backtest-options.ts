// The arguments of `vedette backtest`.
import { parseArgs } from "node:util";
import { SETTING_NAMES, SETTINGS_SOME } from "../../api/shapes/watchdog-settings.ts";
import { ownMember, setMember } from "../../core/collections/own-member.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { formatRfc3339, parseRfc3339 } from "../../core/time/rfc3339.ts";
import { UsageError } from "../../server/exit-code.ts";
import { type AskedServer, askedServer } from "../client/asked-server.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** One silence as the endpoint takes it. */
export interface SilenceOption {
  readonly matchers: ReadonlyArray<{ readonly name: string; readonly operator: string; readonly value: string }>;
  readonly starts_at: string;
  readonly ends_at: string;
}

/** Changes that are tried out, and the series they are tried on. */
export interface BacktestArguments {
  /** File of samples; what the server has stored where it is undefined. */
  readonly file: string | undefined;
  readonly intervalMs: number | undefined;
  readonly url: string;
  /** Undefined where there is none: a server on this machine may ask for none. */
  readonly token: string | undefined;
  /** Undefined for the token's own. */
  readonly tenant: string | undefined;
  readonly isJson: boolean;
  readonly serviceId: string | undefined;
  readonly metricName: string | undefined;
  readonly environment: string | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly settings: ReturnType<typeof SETTINGS_SOME.parse>;
  readonly addedSilences: readonly SilenceOption[];
  readonly removedSilences: readonly string[];
}

/** A backtest that cannot be done; the message is one line for the person at the terminal. */
export class BacktestError extends Error {}

const BACKTEST_USAGE =
  "vedette backtest [FILE] --since TIME [--until TIME] [--service ID] [--metric NAME] [--environment NAME] [--set NAME=VALUE]... [--silence LABEL=VALUE@FROM/TO]... [--remove-silence ID]... [--json] [--url URL] [--token TOKEN | --token-file PATH] [--interval SECONDS]";

/** Reads the arguments. Throws BacktestError. */
export function readBacktestOptions(args: readonly string[], environment: Environment, nowMs: number): BacktestArguments {
  const { values, positionals } = parse(args);
  const [file, ...others] = positionals;
  if (others.length > 0) throw new BacktestError(`give one file, or none for what a server has stored: ${BACKTEST_USAGE}`);
  if (file === undefined && values.since === undefined)
    throw new BacktestError(`give --since and --until, or --since alone for up to now: ${BACKTEST_USAGE}`);
  const { url, token, tenant } = asked(values, environment);
  const time = (name: "since" | "until") => (values[name] === undefined ? undefined : timeOf(`--${name}`, values[name], nowMs));
  return {
    file,
    intervalMs: intervalOf(values.interval),
    url,
    token,
    tenant,
    isJson: values.json === true,
    serviceId: values.service,
    metricName: values.metric,
    environment: values.environment,
    since: time("since"),
    until: time("until") ?? (file === undefined ? formatRfc3339(nowMs) : undefined),
    settings: readSettings(values.set ?? []),
    addedSilences: (values.silence ?? []).map(readSilence),
    removedSilences: values["remove-silence"] ?? [],
  };
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const texts = { type: "string", multiple: true } as const;
  const one = {
    url: text,
    token: text,
    "token-file": text,
    service: text,
    metric: text,
    environment: text,
    since: text,
    until: text,
    interval: text,
  };
  const options = { ...one, set: texts, silence: texts, "remove-silence": texts, json: { type: "boolean" } as const };
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new BacktestError(`${messageOf(error)}; ${BACKTEST_USAGE}`);
  }
}

/** NAME=VALUE as the settings of the endpoint. */
function readSettings(input: readonly string[]): ReturnType<typeof SETTINGS_SOME.parse> {
  const members: Record<string, unknown> = {};
  for (const text of input) {
    const at = text.indexOf("=");
    const name = text.slice(0, Math.max(0, at));
    if (!(SETTING_NAMES as readonly string[]).includes(name))
      throw new BacktestError(`--set takes NAME=VALUE with one of ${SETTING_NAMES.join(", ")}, got ${JSON.stringify(text)}`);
    setMember(members, name, settingValue(text.slice(at + 1)));
  }
  const parsed = SETTINGS_SOME.safeParse(members);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new BacktestError(`--set ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not taken"}`);
}

function settingValue(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

const AGO = /^(\d{1,6})([smhdw])$/;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const SILENCE = /^(.+)@([^/@]+)\/([^/@]+)$/;
const MATCHER = /^([^=!~,]+)(=~|!~|!=|=)(.*)$/;

/** LABEL=VALUE,...@FROM/TO; operators as Alertmanager has them. */
function readSilence(text: string): SilenceOption {
  const [, labels = "", from = "", to = ""] = SILENCE.exec(text) ?? [];
  const matchers = labels.split(",").map((each) => {
    const [, name, operator, value] = MATCHER.exec(each) ?? [];
    if (name === undefined || operator === undefined || value === undefined)
      throw new BacktestError(`--silence takes LABEL=VALUE,...@FROM/TO, got ${JSON.stringify(text)}`);
    return { name, operator, value };
  });
  checkTime("--silence", from);
  checkTime("--silence", to);
  return { matchers, starts_at: from, ends_at: to };
}

/** A moment: a time, or how long ago such as 1h, as RFC 3339. */
function timeOf(option: string, text: string, nowMs: number): string {
  const [, count = "", unit = ""] = AGO.exec(text) ?? [];
  if (count !== "") return formatRfc3339(nowMs - Number(count) * (ownMember(UNIT_MS, unit) as number));
  checkTime(option, text);
  return text;
}

function checkTime(option: string, time: string): void {
  if (parseRfc3339(time) === undefined)
    throw new BacktestError(`${option} takes a time such as 2026-01-31T12:00:00Z, or 1h for an hour ago, got ${JSON.stringify(time)}`);
}

function intervalOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 86_400))
    throw new BacktestError(`--interval takes seconds between rows, above 0 and at most 86400, got ${text}`);
  return seconds * 1000;
}

/** Throws BacktestError where the server or its token cannot be told. */
function asked(values: { url?: string; token?: string; "token-file"?: string }, environment: Environment): AskedServer {
  try {
    return askedServer({ url: values.url, token: values.token, tokenFile: values["token-file"] }, environment);
  } catch (error) {
    throw error instanceof UsageError ? new BacktestError(error.message) : error;
  }
}
