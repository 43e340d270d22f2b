// A runbook: what is done about a finding, step by step (contract 2.12; decisions, section 6).
import type { Tier } from "../detection/anomaly-score.ts";
import { matchesSubject, type PatternSubject, type WebhookPattern } from "../webhooks/webhook.ts";

export const STEP_TYPES = ["http", "notify", "wait", "annotate", "silence"] as const;
export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

interface StepHead {
  readonly name: string;
  /** Somebody has to approve before it is done. */
  readonly approvalRequired: boolean;
}

/** Texts of a step may hold placeholders (template.ts). */
export type RunbookStep = StepHead &
  (
    | {
        readonly type: "http";
        readonly method: HttpMethod;
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly body: string | null;
        readonly timeoutSeconds: number;
        /** Doing it twice is doing it once: it is done again where its outcome is not known. */
        readonly idempotent: boolean;
      }
    | { readonly type: "notify"; readonly channels: readonly string[]; readonly message: string }
    | { readonly type: "wait"; readonly seconds: number }
    | { readonly type: "annotate"; readonly text: string }
    | { readonly type: "silence"; readonly seconds: number; readonly comment: string }
  );
export type HttpStep = Extract<RunbookStep, { type: "http" }>;

/** Which findings it is for: all that is not null must hold, and the score be no lower than `minAnomalyScore`. */
export interface RunbookMatch extends Omit<WebhookPattern, "minAnomalyScore"> {
  readonly minAnomalyScore: number;
  readonly severities: readonly Tier[] | null;
}

/** The score from which on runbooks are evaluated (contract 1.1.6). */
export const RUNBOOK_SCORE = 0.7;

export interface Runbook {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  /** Counts its changes, from 1. */
  readonly revision: number;
  readonly match: RunbookMatch;
  /** Its runs are dry. */
  readonly dryRun: boolean;
  /** Each run has to be approved before its first step. */
  readonly approvalRequired: boolean;
  /** It runs by itself for anomalies that match. */
  readonly auto: boolean;
  readonly steps: readonly RunbookStep[];
  /** Values of placeholders that nobody is shown, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export const RUNBOOK_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Ids that paths of their own have. */
export const RESERVED_IDS: readonly string[] = ["executions"];

/** Subject of a runbook's match. `score` and `severity` are null where there is no finding yet, and any will do; so is a category. */
export interface RunbookSubject extends Omit<PatternSubject, "score"> {
  readonly score: number | null;
  readonly severity: Tier | null;
  readonly category: string | null;
}

/** Whether a runbook is for a subject. `finds` says whether a pattern is found in a text. */
export function matchesRunbook(
  { match }: Pick<Runbook, "match">,
  subject: RunbookSubject,
  finds: (pattern: string, text: string) => boolean,
): boolean {
  const { minAnomalyScore, severities, rootCauseCategory, ...pattern } = match;
  const { score, severity, category } = subject;
  if (score !== null && score < minAnomalyScore) return false;
  if (severities !== null && severity !== null && !severities.includes(severity)) return false;
  if (rootCauseCategory !== null && category !== rootCauseCategory && score !== null) return false;
  return matchesSubject({ ...pattern, rootCauseCategory, minAnomalyScore: null }, { ...subject, score: score ?? 1 }, finds);
}

/** Specificity of a runbook for a subject: of several that match, the one that names most is suggested. */
export function matchWeight({ match }: Pick<Runbook, "match">): number {
  const { serviceIdRegex, metricNameRegex, environments, rootCauseCategory, severities } = match;
  return [serviceIdRegex, metricNameRegex, environments, rootCauseCategory, severities].filter((part) => part !== null).length;
}
