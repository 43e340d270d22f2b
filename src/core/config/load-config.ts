// Every setting: its name, default, bounds and meaning. Read once, by main; `--help` and docs/reference/settings.md are made from this table.

import { ownMember } from "../collections/own-member.ts";
import type { Secret } from "../text/secret.ts";
import { ConfigError } from "./config-error.ts";
import { WATCHDOG_WARMUP_MINUTES_DEFAULT } from "./limits.ts";
import { PROMQL_QUERY_BYTES_MAX, PROMQL_QUERY_MS_MAX, PROMQL_SAMPLES_MAX } from "./promql-limits.ts";
import { SANDBOX_PROCESSES_DEFAULT, SANDBOX_PROCESSES_MAX } from "./sandbox-limits.ts";
import { readSecret, type SecretFileReader, type SecretSetting } from "./secret-setting.ts";

interface SettingBase {
  readonly name: string;
  readonly meaning: string;
}
interface NumberSetting extends SettingBase {
  readonly kind: "number";
  readonly initial: number;
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
}
interface TextSetting extends SettingBase {
  readonly kind: "text";
  readonly initial: string;
  readonly choices?: readonly string[];
}
export type Setting = NumberSetting | TextSetting | SecretSetting;

type Named<S extends Setting, N extends string> = S & { readonly name: N };

function whole<const N extends string>(name: N, initial: number, least: number, most: number, meaning: string): Named<NumberSetting, N> {
  return { kind: "number", name, initial, least, most, whole: true, meaning };
}

function real<const N extends string>(name: N, initial: number, least: number, most: number, meaning: string): Named<NumberSetting, N> {
  return { kind: "number", name, initial, least, most, whole: false, meaning };
}

/** The first choice is the default. */
function choice<const N extends string>(name: N, choices: readonly [string, ...string[]], meaning: string): Named<TextSetting, N> {
  return { kind: "text", name, initial: choices[0], choices, meaning };
}

function text<const N extends string>(name: N, initial: string, meaning: string): Named<TextSetting, N> {
  return { kind: "text", name, initial, meaning };
}

/** Read from NAME, or from the file that NAME_FILE names; undefined while unset, never shown. */
export function secret<const N extends string>(name: N, meaning: string): Named<SecretSetting, N> {
  return { kind: "secret", name, initial: "", meaning };
}

/** All settings, in the order in which help prints them. ENGINES 0 means "cores - 1, at least 1". */
export const SETTINGS = [
  whole("PORT", 8080, 0, 65535, "port of the API and of ingestion (0 = any free port)"),
  text("HOST", "127.0.0.1", "address to listen on"),
  text(
    "SOCKET",
    "",
    "path of a Unix socket to listen on besides, such as /run/vedette.sock, mode 0600: who may open it is local and needs no credential, whatever READ_AUTH says",
  ),
  whole(
    "OTLP_PORT",
    4318,
    0,
    65535,
    "second port, for OTLP only (0 = closed); where the port is taken the log says so and the start goes on",
  ),
  whole(
    "OTLP_GRPC_PORT",
    4317,
    0,
    65535,
    "port for OTLP over gRPC (0 = closed); where the port is taken the log says so and the start goes on",
  ),
  whole(
    "ALERTS_PORT",
    9093,
    0,
    65535,
    "port for alerts of an Alertmanager, without a credential (0 = closed); where the port is taken the log says so and the start goes on",
  ),
  text("ALERTS_HOST", "127.0.0.1", "address that ALERTS_PORT is bound to: whoever reaches it may declare anomalies of ALERTS_TENANT"),
  text("ALERTS_TENANT", "default", "tenant of the alerts that come on ALERTS_PORT"),
  text(
    "TLS_CERT_FILE",
    "",
    "certificate in PEM, with those that signed it behind it: all ports speak TLS then; read again on SIGHUP and when it changes",
  ),
  text("TLS_KEY_FILE", "", "its private key in PEM, without a passphrase"),
  text(
    "TLS_CLIENT_CA_FILE",
    "",
    "certificate authorities in PEM: telemetry and alerts are then taken over connections with a certificate of theirs only; needs node:http",
  ),
  text("DATA_DIR", "./data", "folder of everything durable"),
  text(
    "RULES_DIR",
    "",
    "folder of rule files of Prometheus (.yml, .yaml, .json), which are read again when they change; none where it is not set",
  ),
  text("RULES_TENANT", "default", "tenant that the rules of RULES_DIR are of"),
  whole(
    "ENGINES",
    0,
    0,
    64,
    "engines, in as many threads as there are cores at most; 0 = cores - 1, at least 1; may change between restarts",
  ),
  choice(
    "HTTP_ENGINE",
    ["auto", "uws", "node"],
    "HTTP front: auto takes uWebSockets.js where it loads, else node:http; node behind a proxy",
  ),
  choice(
    "DURABILITY",
    ["process", "power"],
    "process: an answer survives kill -9; power: it survives a power cut too (one sync before the answer)",
  ),
  choice(
    "ACCEPT_DATA_LOSS",
    ["false", "true"],
    "true: start although a part of the data folder is missing; for one start; what is lost is reported until it is acknowledged",
  ),
  choice("LOG_LEVEL", ["info", "debug", "warn", "error"], "least level of the lines of the log"),
  choice("LOG_FORMAT", ["auto", "json", "text"], "lines of the log as JSON or as text; auto: text on a terminal, JSON elsewhere"),
  text(
    "PLAN_LIMITS",
    "",
    "ingestion requests a second by plan, over free=10,starter=100,pro=1000,enterprise=unlimited: free=20,pro=unlimited",
  ),
  choice("INGEST_AUTH", ["optional", "required"], "whether writing telemetry needs a credential"),
  choice(
    "READ_AUTH",
    ["loopback", "required"],
    "loopback: requests from this machine to a server bound to loopback need no credential to read; required behind a proxy",
  ),
  choice(
    "METRICS_AUTH",
    ["none", "required"],
    "whether GET /metrics needs a credential, of a viewer of the tenant default or a super admin",
  ),
  secret(
    "JWT_SECRET",
    "secret of tokens signed with HS256, at least 32 bytes; without it and without JWKS the first start makes one in DATA_DIR",
  ),
  text("JWKS_URL", "", "http(s) address of an identity provider's keys, for tokens signed with RS256 or ES256"),
  text("JWKS_FILE", "", "file with such keys, read again when it changes"),
  whole("JWKS_REFRESH_SECONDS", 300, 10, 86_400, "seconds after which the keys are looked at again"),
  text("JWT_ISSUER", "", "iss that a token must have; needed with JWKS"),
  text("JWT_AUDIENCE", "", "aud that a token must have or hold; needed with JWKS"),
  choice(
    "JWT_UNCHECKED_CLAIMS",
    ["none", "iss", "aud", "iss,aud"],
    "what of a JWKS provider's tokens may stay unchecked: tokens that it made for others then count here",
  ),
  text("JWT_CLAIM_TENANT", "tenant_id", "claim that names the tenant"),
  text("JWT_CLAIM_ROLE", "role", "claim that names the role"),
  whole("JWT_CLOCK_SKEW_SECONDS", 120, 0, 600, "seconds by which a token's exp and nbf may miss: clocks of callers may be minutes off"),
  text(
    "LOG_FIELD_EXCLUSIONS",
    "",
    "fields left out of every record and dead letter before it is stored, with commas between: password, user.email, attributes.*.token",
  ),
  whole("SERIES_LIMIT", 1_000_000, 1, 100_000_000, "streams a tenant may have in memory; further new ones are refused"),
  choice(
    "OTEL_TEMPORALITY_NORMALIZE",
    ["true", "false"],
    "true: cumulative counters and histograms of every way in become what was added per interval; false: they are taken as they stand",
  ),
  choice(
    "OTEL_SERVICE_NAMESPACE",
    ["ignore", "prefix"],
    "prefix: a service of OTLP with a service.namespace is namespace/name, as Prometheus' job is; ignore: its name alone",
  ),
  text(
    "REPLICA_LABELS",
    "",
    "further labels, with commas between, that tell the servers of a pair of Prometheus apart, beside replica, __replica__ and prometheus_replica",
  ),
  real(
    "STREAM_IDLE_HOURS",
    24,
    0.01,
    87_600,
    "hours without a sample after which a stream leaves memory; it comes back, as it was, with the next one",
  ),
  real(
    "WATCHDOG_Z_SCORE_THRESHOLD",
    3,
    1,
    20,
    "|z| above which a sample is over the threshold: 2 very sensitive, 3 balanced, 4 conservative, 5 very conservative",
  ),
  whole("WATCHDOG_INTERVAL_SECONDS", 60, 5, 3600, "seconds between two cycles of the Watchdog"),
  whole("WATCHDOG_RCA_COOLDOWN_MINUTES", 15, 0, 1440, "minutes for which an anomaly of a pair triggers no further root-cause analysis"),
  whole(
    "WATCHDOG_WARMUP_MINUTES",
    WATCHDOG_WARMUP_MINUTES_DEFAULT,
    0,
    1440,
    "minutes after the start in which only independent signals may alert",
  ),
  whole(
    "GROUP_WAIT_SECONDS",
    10,
    0,
    300,
    "seconds that a page waits for others of the same cause, to be one message with them; a high of a known series is told at once",
  ),
  whole("REPEAT_MINUTES", 240, 0, 10_080, "minutes after which a high alert that nobody has acknowledged is told again; 0: never"),
  whole("ALERT_DEDUP_MAX_AGE_MINUTES", 60, 1, 10_080, "age from which a firing alert absorbs no further fires of its incident"),
  text("DETECTION_TIMEZONE", "UTC", "time zone of hours and weekdays in seasonal baselines, such as Europe/Berlin"),
  whole(
    "WATCHDOG_SERVICES_MAX",
    20_000,
    0,
    1_000_000,
    "services whose metrics are judged together, each environment for itself; about 20 KB of memory each with 20 metrics",
  ),
  whole(
    "WATCHDOG_PAIRS_MAX",
    200_000,
    0,
    5_000_000,
    "streams with a long baseline, 4.5 KiB each; further ones are judged by their window alone",
  ),
  choice("SATURATION_DETECTOR_ENABLED", ["true", "false"], "whether bounded series are watched for running full"),
  real(
    "ML_DEGRADATION_SLOPE_THRESHOLD",
    0.01,
    0.0001,
    10,
    "share of its own size that a metric must change by an hour, for good, to be listed as degrading",
  ),
  secret(
    "DEADMAN_HEARTBEAT_URL",
    "address that is asked for at the end of each evaluation: who misses it knows that evaluation has stalled",
  ),
  text(
    "LLM_BASE_URL",
    "",
    "URL of a server that speaks OpenAI's chat completions, such as https://host/v1: it words the summary of POST /api/v1/ml/analyze and nothing else; none is asked where it is not set",
  ),
  text("LLM_MODEL", "", "model that is named to it"),
  secret("LLM_API_KEY", "key that is sent to it as Bearer"),
  secret(
    "CHAT_WEBHOOKS",
    "chat webhooks by name, name=URL with commas between; tenant/name=URL for another tenant than default, */name=URL for all",
  ),
  secret("CHAT_WEBHOOK_URL", "chat webhook of channel chat; the first of CHAT_WEBHOOKS where it is not set"),
  secret(
    "PAGER_ROUTING_KEYS",
    "keys of the pager's Events API v2 by name, name=key with commas between, tenants as in CHAT_WEBHOOKS; the pager needs PAGER_ROUTING_KEY besides",
  ),
  secret("PAGER_ROUTING_KEY", "key of channel pager; without it the pager is off"),
  text("PAGER_URL", "https://events.pagerduty.com/v2/enqueue", "URL that events of the pager are sent to"),
  secret("ALERTOPS_API_KEY", "key of the on-call service's API, for channels oncall:<team>"),
  text("ONCALL_BASE_URL", "https://api.opsgenie.com", "URL of the on-call service, which /v2/alerts is put behind"),
  text("ONCALL_DEFAULT_TEAM", "", "team that is notified where a rule names no other"),
  secret("SMTP_URL", "mail server of channels email:<address>: smtp://host:587, smtps://user:password@host"),
  text("SMTP_FROM", "", "address that mails come from; needed with SMTP_URL"),
  text("EMAIL_DEFAULT_TO", "", "address that is notified where a rule names no other"),
  text("EMAIL_ALLOWED_DOMAINS", "", "domains that mails may go to, with commas between; not set: any"),
  text(
    "NOTIFY_LIMITS",
    "chat=1,pager=2,email=10,oncall=5",
    "messages a second for each destination of a notifier, 0.1 to 1000; five may leave at once",
  ),
  text(
    "ROUTING_DEFAULT_CHANNELS",
    "",
    "channels of the catch-all rule, with commas between, in place of each notifier's default: chat:ops,pager",
  ),
  whole(
    "SANDBOX_PROCESSES",
    SANDBOX_PROCESSES_DEFAULT,
    1,
    SANDBOX_PROCESSES_MAX,
    "processes that run the transforms of tenants at once, 75 MB each; a tenant holds half of them at most. None runs before a webhook has a transform",
  ),
  choice("TRANSFORM_PYTHON", ["false", "true"], "whether transforms in python run where the kernel's wall does not stand"),
  choice("RUNBOOK_FOUR_EYES", ["true", "false"], "true: a step of a runbook is approved by somebody other than who started the run"),
  choice(
    "WEBHOOK_ALLOW_PRIVATE",
    ["false", "true"],
    "true: webhooks and runbooks may lead to loopback, link-local and private addresses; metadata addresses never",
  ),
  whole(
    "DRILL_INTERVAL_HOURS",
    0,
    0,
    8_760,
    "hours between two fire drills of the tenant default, which page like any other alert; 0: none runs by itself",
  ),
  text("PUBLIC_URL", "", "URL under which people reach this server, for links in messages"),
  choice(
    "CHART_LINKS",
    ["false", "true"],
    "true: chat shows a picture of the series, which it fetches from PUBLIC_URL by an address that opens it for seven days",
  ),
  whole("WATCHDOG_MIN_SAMPLES", 12, 3, 120, "values a baseline needs before anything is declared"),
  choice(
    "WATCHDOG_CONFIRMATION",
    ["on", "off"],
    "off: one value over WATCHDOG_Z_SCORE_THRESHOLD declares an anomaly, and no page waits until a finding is confirmed",
  ),
  whole("WATCHDOG_WINDOW", 120, 12, 120, "values in the rolling baseline"),
  whole("VECTORIZER_INTERVAL_SECONDS", 30, 1, 60, "seconds between two ticks of the vectorizer, which scores what services are mapped to"),
  whole("RETENTION_DAYS", 30, 1, 3650, "days that hourly roll-ups, records and anomalies are kept"),
  whole("RETENTION_RAW_DAYS", 7, 1, 3650, "days that raw samples are kept"),
  whole("AUDIT_RETENTION_DAYS", 365, 1, 3650, "days that rows of the audit log are kept"),
  whole("PROMQL_MAX_SAMPLES", PROMQL_SAMPLES_MAX, 1_000, 1_000_000_000, "samples that one query of PromQL may read"),
  whole("PROMQL_TIMEOUT_SECONDS", PROMQL_QUERY_MS_MAX / 1_000, 1, 3_600, "seconds that one query of PromQL may take"),
  whole(
    "PROMQL_MEMORY_MIB",
    PROMQL_QUERY_BYTES_MAX / 2 ** 20,
    16,
    16_384,
    "MiB of values that the queries of a thread may have in memory at once, one alone or all together",
  ),
  whole("PROMQL_WORKERS", 1, 1, 16, "threads that evaluate queries of PromQL, twenty at once in all; they start with the first"),
  text("BACKUP_DIR", "", "folder that backups are made in, one below it for each; none are made where it is not set"),
  whole("BACKUP_KEEP", 7, 1, 1_000, "backups that are kept in BACKUP_DIR; older ones go once a newer one is whole"),
  whole("BACKUP_MIB_PER_SECOND", 64, 1, 100_000, "MiB a second at which the stores are copied into a backup"),
  real(
    "BACKUP_LOG_GIB",
    0,
    0,
    1_048_576,
    "GiB of the log that are kept behind the newest backup, in DATA_DIR, for a restore to a later moment; 0 = none",
  ),
  real(
    "STORE_CHECK_WAIT_GIB",
    0.25,
    0,
    1_048_576,
    "GiB of a store that a start looks through before it opens it, a second or two a GiB; a larger one is looked through once the server serves",
  ),
  real(
    "DISK_LIMIT_GIB",
    0,
    0,
    1_048_576,
    "GiB that log and stores may hold; beyond, writes get 503 until retention has made room; 0 = what the disk has",
  ),
] as const;

type ValueOf<S extends Setting> = S extends NumberSetting ? number : S extends SecretSetting ? Secret | undefined : string;
/** One field per setting of a table, under the setting's own name. */
type ConfigOf<T extends readonly Setting[]> = { readonly [N in T[number]["name"]]: ValueOf<Extract<T[number], { name: N }>> };
/** The configuration. */
export type Config = ConfigOf<typeof SETTINGS>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Old names, refused with the name of their successor (contract, section 9). */
const RENAMED: Readonly<Record<string, string>> = { AIOPS_WATCHDOG_INTERVAL: "WATCHDOG_INTERVAL_SECONDS" };

function parseNumber(setting: NumberSetting, input: string): number {
  const value = input.trim() === "" ? Number.NaN : Number(input);
  const fits = Number.isFinite(value) && value >= setting.least && value <= setting.most && (!setting.whole || Number.isInteger(value));
  if (fits) return value;
  const what = setting.whole ? "a whole number" : "a number";
  throw new ConfigError(`${setting.name} must be ${what} from ${setting.least} to ${setting.most}, not "${input}"`);
}

function parseText(setting: TextSetting, input: string): string {
  if (setting.choices && !setting.choices.includes(input)) {
    throw new ConfigError(`${setting.name} must be one of ${setting.choices.join(", ")}, not "${input}"`);
  }
  if (input === "") throw new ConfigError(`${setting.name} is set but empty; unset it to take the default "${setting.initial}"`);
  return input;
}

/** Reads the settings from an environment. Throws ConfigError at the first value that cannot be used. */
export function loadConfig(environment: Environment, readFile: SecretFileReader): Config {
  for (const [old, successor] of Object.entries(RENAMED)) {
    if (ownMember(environment, old) !== undefined) throw new ConfigError(`${old} was renamed ${successor}; set that instead`);
  }
  return readSettings(SETTINGS, environment, readFile);
}

/** Reads the settings of one table. */
export function readSettings<const T extends readonly Setting[]>(
  settings: T,
  environment: Environment,
  readFile: SecretFileReader,
): ConfigOf<T> {
  const entries = settings.map((setting) => {
    if (setting.kind === "secret") return [setting.name, readSecret(setting, environment, readFile)];
    const input = ownMember(environment, setting.name);
    if (input === undefined) return [setting.name, setting.initial];
    return [setting.name, setting.kind === "number" ? parseNumber(setting, input) : parseText(setting, input)];
  });
  return Object.fromEntries(entries) as ConfigOf<T>;
}
