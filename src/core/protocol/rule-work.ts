// What the coordinator has query workers do for rules: they read files and evaluate groups, which would hold its own thread for too long.

/** Reads a file of rules; its groups come back as documents. */
interface ReadRules {
  readonly kind: "read";
  readonly text: string;
}

/** A piece of work for a query worker. */
export type RuleWork = ReadRules;

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
