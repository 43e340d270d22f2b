// What is said about an alert: a copy of what stands in a message, made when it is decided.
import { DRILL_SERVICE } from "../../core/protocol/own-telemetry.ts";
import { momentText } from "../../core/time/rfc3339.ts";
import type { Tier } from "../detection/anomaly-score.ts";

/** Why a message leaves. A page is opened, raised, reopened or renewed; `cause` follows a page once, when root-cause analysis has one; a `notice` is of a runbook. */
export const MESSAGE_KINDS = ["opened", "raised", "reopened", "renewed", "updated", "acknowledged", "resolved", "cause", "notice"] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

export interface AlertMessage {
  readonly kind: MessageKind;
  readonly tenant: string;
  readonly alertId: string;
  readonly severity: Tier;
  readonly serviceId: string;
  readonly environment: string;
  /** Family of detectors, or `alertmanager`. */
  readonly source: string;
  readonly metricName: string;
  /** One sentence: what is so, or was. */
  readonly explanation: string;
  /** Services of a cascade; empty for others. */
  readonly services: readonly string[];
  readonly startedAtMs: number;
  /** When what is reported was decided. */
  readonly atMs: number;
  readonly resolvedAtMs: number | null;
  /** How it ended, in words; absent before, and in messages of earlier versions. */
  readonly ending?: string;
  readonly acknowledgedBy: string | null;
  readonly team: string | null;
  /** Sentence of the most likely cause; null where there is none. */
  readonly cause: string | null;
  /** Page of the alert; null without PUBLIC_URL. */
  readonly url: string | null;
  /** An alert that ended before anything of it was told: one message says both. */
  readonly both: boolean;
}

/** What a message leaves out that is of no alert. */
export const OF_NO_ALERT = {
  services: [],
  resolvedAtMs: null,
  acknowledgedBy: null,
  team: null,
  cause: null,
  url: null,
  both: false,
} as const satisfies Partial<AlertMessage>;

/** What a message of an alert that fires says where people have heard of it: they see at once that it is none they do not know. */
const FIRING_TEXTS: Readonly<Partial<Record<MessageKind, string>>> = {
  raised: "Firing, worse",
  updated: "Firing, update",
  reopened: "Firing again",
  renewed: "Still firing",
};

/** The state as messages say it first. */
function stateWord({ kind, both }: Pick<AlertMessage, "kind" | "both">): string {
  if (both) return "Fired and resolved";
  if (kind === "resolved") return "Resolved";
  if (kind === "acknowledged") return "Acknowledged";
  if (kind === "cause") return "Cause";
  if (kind === "notice") return "Runbook";
  return FIRING_TEXTS[kind] ?? "Firing";
}

/** Control characters, ends of lines and paragraphs, and signs that turn the direction of what is read: in a name they forge lines of ours. */
const FORGING = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

function plain(text: string): string {
  return text.replace(FORGING, " ");
}

/** The message as it is rendered: a line is a line of ours. Of a runbook's own text its lines stay; values of findings in it have none. */
export function shownMessage(message: AlertMessage): AlertMessage {
  const { kind, serviceId, environment, source, metricName, explanation, services, ending, acknowledgedBy, cause } = message;
  return {
    ...message,
    serviceId: plain(serviceId),
    environment: plain(environment),
    source: plain(source),
    metricName: plain(metricName),
    explanation: kind === "notice" ? explanation.split(/\r?\n/).map(plain).join("\n") : plain(explanation),
    services: services.map(plain),
    ...(ending !== undefined && { ending: plain(ending) }),
    acknowledgedBy: acknowledgedBy === null ? null : plain(acknowledgedBy),
    cause: cause === null ? null : plain(cause),
  };
}

/** One line: state, severity, service, metric. That of a drill says so first, wherever no more than it is shown. */
export function headline(message: AlertMessage): string {
  const { serviceId, environment, metricName, severity, services } = message;
  const where = environment === "" ? serviceId : `${serviceId} (${environment})`;
  const more = services.length > 1 ? ` and ${services.length - 1} more ${services.length === 2 ? "service" : "services"}` : "";
  const drill = serviceId === DRILL_SERVICE ? "Fire drill, nothing has happened. " : "";
  return `${drill}${stateWord(message)}: ${severity}, ${where}${more}, ${metricName}`;
}

/** Sentences behind the headline: what is so, its cause, who has it. */
export function detailLines(message: AlertMessage): string[] {
  const lines = message.kind === "cause" ? [] : [message.explanation];
  if (message.cause !== null) lines.push(`Cause: ${message.cause}`);
  if (message.ending !== undefined) lines.push(`${message.ending.charAt(0).toUpperCase()}${message.ending.slice(1)}`);
  if (message.acknowledgedBy !== null) lines.push(`Acknowledged by ${message.acknowledgedBy}`);
  if (message.services.length > 1) lines.push(`Services: ${message.services.join(", ")}`);
  return lines;
}

/** One line: since when, or from when to when, by the clock of the alert's page. */
export function timesLine({ startedAtMs, resolvedAtMs }: Pick<AlertMessage, "startedAtMs" | "resolvedAtMs">): string {
  return resolvedAtMs === null ? `Since ${momentText(startedAtMs)}` : `From ${momentText(startedAtMs)} to ${momentText(resolvedAtMs)}`;
}

/** The text cut to a number of characters, never within a pair of surrogates. */
export function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const end = charactersMax - 1;
  const high = text.charCodeAt(end - 1);
  return `${text.slice(0, high >= 0xd800 && high <= 0xdbff ? end - 1 : end)}…`;
}
