// What the coordinator has query workers do for rules: they read files and evaluate groups, which would hold its own thread for too long.

/** Reads a file of rules; its groups come back as documents. */
export interface ReadRules {
  readonly kind: "read";
  readonly text: string;
}

/** Evaluates a group at a moment. */
export interface EvaluateRules {
  readonly kind: "evaluate";
  /** The group as JSON of a RuleGroupDocument. */
  readonly document: string;
  /** What the evaluation before has left; null for none. */
  readonly state: Uint8Array | null;
  readonly timeMs: number;
  readonly externalUrl: string;
  /** Whether series of alerts are made from the first evaluation on: nothing of before is to be restored. */
  readonly isNew: boolean;
  /** Whether `for` is to be restored behind this evaluation. */
  readonly restores: boolean;
  /** Whether all alerts that fire are sent, not only those that begin to. */
  readonly sendsAll: boolean;
}

/** Evaluates a group at each moment of the past, of which nothing comes but its answer. */
export interface TryRules {
  readonly kind: "try";
  /** The group as JSON of a RuleGroupDocument. */
  readonly document: string;
  readonly firstMs: number;
  readonly stepMs: number;
  readonly steps: number;
  readonly externalUrl: string;
}

/** An alert that fired in a trial. */
export interface TriedAlert {
  /** Index of its rule in the group. */
  readonly rule: number;
  readonly labels: Readonly<Record<string, string>>;
  /** As they were when it began to fire. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly activeMs: number;
  readonly firedMs: number;
  /** null where it fires still. */
  readonly endedMs: number | null;
}

/** What a rule has come to in a trial. */
export interface TriedRule {
  /** Moments at which it failed. */
  readonly failures: number;
  readonly lastError: string | null;
}

/** What a trial has come to. */
export interface TriedGroup {
  /** Why it did not come to its end, and how far it came; null where it did. */
  readonly problem: string | null;
  readonly rules: readonly TriedRule[];
  readonly alerts: readonly TriedAlert[];
}

/** A piece of work for a query worker. */
export type RuleWork = ReadRules | EvaluateRules | TryRules;

/** The coordinator to main: work for a query worker, answered by RuleWorkDone. */
export interface RuleWorkWanted {
  readonly type: "rule-work";
  readonly id: number;
  readonly tenant: string;
  readonly work: RuleWork;
}

/** What became of it: 200 with the result, or a refusal as PromQL's API has it. */
export interface RuleWorkDone {
  readonly type: "rule-work-done";
  readonly id: number;
  readonly status: number;
  readonly body: string | Uint8Array;
}

/** The coordinator to main: samples of rules for an engine, as a remote-write request; answered by RuleSamplesTaken. */
export interface RuleSamples {
  readonly type: "rule-samples";
  readonly id: number;
  readonly tenant: string;
  readonly body: Uint8Array;
}

/** What an engine has answered to them. */
export interface RuleSamplesTaken {
  readonly type: "rule-samples-taken";
  readonly id: number;
  readonly status: number;
}

/** A file of RULES_DIR, by its path below it. */
export interface RuleFileText {
  readonly file: string;
  readonly text: string;
}

/** Main to the coordinator: RULES_DIR as it is now. */
export interface RuleFiles {
  readonly type: "rule-files";
  readonly files: readonly RuleFileText[];
  /** Files that could not be read, each with why. */
  readonly unread: readonly string[];
}

/** Files as a worker reads them. */
export interface ReadRulesResult {
  /** Each group as JSON of a RuleGroupDocument. */
  readonly documents: readonly string[];
  readonly problems: readonly string[];
}

/** An alert that a rule sends on; one that is pending is only named, where all are. */
export interface RuleAlertChange {
  readonly status: "pending" | "firing" | "resolved";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly firedMs: number;
  readonly endedMs: number | null;
}

/** What a rule has come to. */
export interface EvaluatedRule {
  readonly lastError: string | null;
  readonly seconds: number;
  readonly pending: number;
  readonly firing: number;
}

/** What an evaluation of a group has come to, besides its state and its samples. */
export interface EvaluatedGroup {
  readonly seconds: number;
  readonly rules: readonly EvaluatedRule[];
  readonly changes: readonly RuleAlertChange[];
  readonly samples: number;
}

/** An evaluation with the bytes that the coordinator does not look into: the state for the next one, and a remote-write request of the samples. */
export interface EvaluationParts {
  readonly group: EvaluatedGroup;
  readonly state: Uint8Array;
  readonly request: Uint8Array;
}

const LENGTHS_BYTES = 8;

/** One run of bytes of all parts: length of the first two as u32, then the three. */
export function packEvaluation({ group, state, request }: EvaluationParts): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(JSON.stringify(group));
  const bytes = new Uint8Array(LENGTHS_BYTES + head.length + state.length + request.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, head.length);
  view.setUint32(4, state.length);
  bytes.set(head, LENGTHS_BYTES);
  bytes.set(state, LENGTHS_BYTES + head.length);
  bytes.set(request, LENGTHS_BYTES + head.length + state.length);
  return bytes;
}

/** Gives back what packEvaluation() was given. */
export function unpackEvaluation(bytes: Uint8Array): EvaluationParts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const stateAt = LENGTHS_BYTES + view.getUint32(0);
  const requestAt = stateAt + view.getUint32(4);
  const group = JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTHS_BYTES, stateAt))) as EvaluatedGroup;
  return { group, state: bytes.slice(stateAt, requestAt), request: bytes.slice(requestAt) };
}
