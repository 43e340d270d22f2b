/**
 * When groups of rules are evaluated, and what becomes of it. As in Prometheus a group has moments of its own, whole intervals from an offset that follows from its name, so
 * that groups do not all come at once; moments that went by while its evaluation before was under way, or nobody had time, are skipped and counted.
 *
 * Evaluations run in query workers, a few at once, of which each tenant has a share; the tenant goes first that has fewest under way. Sketch: 1,000 rules in 100 groups of a minute are two evaluations
 * a second; each costs this thread the reading of its result, a few kB.
 *
 * The moments at which a group is evaluated: those of its interval, a little apart from those of other groups, and the same behind a restart.
 */
import { StoreError } from "../../adapters/storage/key-value-store.ts";
import {
  RULE_EVALUATIONS_UNDER_WAY_MAX,
  RULE_EVALUATIONS_UNDER_WAY_SHARE,
  RULE_INTERVAL_MS,
  RULE_RESEND_MS,
  RULE_SILENT_INTERVALS,
} from "../../core/config/rule-limits.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { background, task } from "../../core/faults/guard.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import type { EvaluatedRule, EvaluationParts, RuleAlertChange } from "../../core/protocol/rule-work.ts";
import { groupOfDocument } from "../../domain/rules/file/group-document.ts";
import type { RuleGroup } from "../../domain/rules/file/rule-group.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { RuleAlertBook } from "./rule-alert-book.ts";
import type { RuleAlerts } from "./rule-alerts.ts";
import type { RuleBook } from "./rule-book.ts";
import { groupIdOf, type RuleGroupEntry } from "./rule-group-row.ts";
import type { RuleSampleSender } from "./rule-samples.ts";
import { RuleWorkError, type RuleWorkers } from "./rule-workers.ts";

export interface RuleScheduleDependencies {
  readonly rules: RuleBook;
  readonly ruleAlerts: RuleAlertBook;
  readonly alerts: Pick<RuleAlerts, "take" | "endUnseen">;
  readonly workers: Pick<RuleWorkers, "evaluate">;
  readonly samples: Pick<RuleSampleSender, "send">;
  readonly counters: Pick<CoordinatorCounters, "add">;
  /** PUBLIC_URL; empty where there is none. */
  readonly publicUrl: string;
  nowMs(): number;
  monotonicMs(): number;
  /** Has the coordinator step: an evaluation has come to its end. */
  wake?(): void;
}

/** What the last evaluation of a group came to. */
export interface RuleGroupFacts {
  readonly evaluatedMs: number;
  readonly seconds: number;
  /** Why the whole evaluation failed; null where it came to its end. */
  readonly problem: string | null;
  readonly rules: readonly EvaluatedRule[];
  readonly missed: number;
  /** States of its rules (domain/rules/evaluation/rule-state-text.ts). */
  readonly state: Uint8Array | null;
}

/** A group that is evaluated. */
interface RuleRun {
  entry: RuleGroupEntry;
  group: RuleGroup;
  /** The document that is evaluated: without rules where the group is deleted. */
  text: string;
  intervalMs: number;
  /** Wall time of its next evaluation. */
  nextMs: number;
  isUnderWay: boolean;
  isDeleted: boolean;
  /** Whether no rule of it was there before the start. */
  readonly isNew: boolean;
  evaluations: number;
  sentAllMs: number;
  facts: RuleGroupFacts;
}

const NO_FACTS: RuleGroupFacts = { evaluatedMs: 0, seconds: 0, problem: null, rules: [], missed: 0, state: null };
const EVALUATION = task("an evaluation of rules");
/** A clock that is set is noticed so soon. */
const CHECKED_MS = 1_000;

/** Evaluates the groups of all tenants. */
export class RuleSchedule {
  readonly #dependencies: RuleScheduleDependencies;
  readonly #runs = new Map<string, RuleRun>();
  readonly #underWay: ShareLedger;
  readonly #startedMs: number;
  #version = -1;
  #dueMs = 0;
  #hasEndedUnknown = false;

  constructor(dependencies: RuleScheduleDependencies) {
    this.#dependencies = dependencies;
    this.#startedMs = dependencies.nowMs();
    const [most, share] = [RULE_EVALUATIONS_UNDER_WAY_MAX, RULE_EVALUATIONS_UNDER_WAY_SHARE];
    this.#underWay = new ShareLedger({ most, share, tenants: () => [...dependencies.rules.tenants].length });
  }

  /** Begins what is due; the monotonic time at which it is to be called again. */
  step(): number {
    const { rules, monotonicMs } = this.#dependencies;
    if (rules.version !== this.#version) this.#adopt();
    if (monotonicMs() >= this.#dueMs) this.#begin();
    return this.#dueMs;
  }

  /** Where this server is found; empty where nobody says. */
  get externalUrl(): string {
    return this.#dependencies.publicUrl;
  }

  /** The last evaluation of a group. */
  factsOf(entry: RuleGroupEntry): RuleGroupFacts {
    return this.#runs.get(runKey(entry))?.facts ?? NO_FACTS;
  }

  /** Takes the groups of the Book over: of a group that has changed the state stays. */
  #adopt(): void {
    const { rules } = this.#dependencies;
    if (this.#version < 0) this.#hasEndedUnknown = [...this.#dependencies.ruleAlerts.groups()].length === 0;
    this.#version = rules.version;
    this.#dueMs = 0;
    const found = new Set<string>();
    for (const entry of rules.all()) {
      const key = runKey(entry);
      found.add(key);
      const run = this.#runs.get(key);
      if (run === undefined) this.#runs.set(key, this.#newRun(entry));
      else if (run.text !== entry.text) Object.assign(run, this.#planned(entry), { isDeleted: false });
    }
    for (const [key, run] of this.#runs) if (!found.has(key) && !run.isDeleted) this.#delete(run);
  }

  #newRun(entry: RuleGroupEntry): RuleRun {
    const isNew = entry.file === "" && entry.changedMs >= this.#startedMs;
    const fresh = { isUnderWay: false, isDeleted: false, evaluations: 0, sentAllMs: 0, facts: NO_FACTS };
    return { ...this.#planned(entry), ...fresh, isNew };
  }

  #planned(entry: RuleGroupEntry) {
    return { entry, text: entry.text, ...evaluationsOf(entry, this.#dependencies.nowMs()) };
  }

  /** One more evaluation, without rules, ends its series and its alerts. */
  #delete(run: RuleRun): void {
    const text = JSON.stringify({ name: run.entry.document.name, rules: [] });
    Object.assign(run, { text, isDeleted: true, nextMs: this.#dependencies.nowMs() });
  }

  #begin(): void {
    const { nowMs, monotonicMs } = this.#dependencies;
    const wallMs = nowMs();
    this.#endUnknown(wallMs);
    const due = [...this.#runs.values()].filter((run) => !run.isUnderWay && run.nextMs <= wallMs);
    for (let next = this.#next(due); next !== undefined; next = this.#next(due)) {
      due.splice(due.indexOf(next), 1);
      background(EVALUATION, this.#evaluate(next, wallMs));
    }
    const waiting = [...this.#runs.values()].filter((run) => !run.isUnderWay).map((run) => run.nextMs - wallMs);
    const soonestMs = due.length > 0 ? CHECKED_MS : Math.min(CHECKED_MS, ...waiting);
    this.#dueMs = this.#runs.size === 0 && this.#hasEndedUnknown ? Number.POSITIVE_INFINITY : monotonicMs() + Math.max(0, soonestMs);
  }

  /** What goes first of those whose tenants have a place. */
  #next(due: readonly RuleRun[]): RuleRun | undefined {
    const ready = due.filter(({ entry }) => this.#underWay.available(entry.tenant) > 0);
    return ready.length === 0 ? undefined : ready.reduce((first, run) => (this.#goesBefore(run, first) ? run : first));
  }

  #goesBefore(run: RuleRun, other: RuleRun): boolean {
    const [own, others] = [run, other].map(({ entry }) => this.#underWay.used(entry.tenant)) as [number, number];
    return own < others || (own === others && run.nextMs < other.nextMs);
  }

  async #evaluate(run: RuleRun, wallMs: number): Promise<void> {
    const { tenant } = run.entry;
    const skipped = Math.floor((wallMs - run.nextMs) / run.intervalMs);
    const timeMs = run.isDeleted ? wallMs : run.nextMs + skipped * run.intervalMs;
    run.isUnderWay = true;
    run.nextMs = timeMs + run.intervalMs;
    if (skipped > 0 && !run.isDeleted) this.#skip(run, skipped);
    this.#underWay.add(tenant);
    const wasDeleted = run.isDeleted;
    let isDone = false;
    try {
      isDone = await this.#work(run, timeMs);
    } finally {
      run.isUnderWay = false;
      this.#underWay.give(tenant);
      if (isDone && wasDeleted && run.isDeleted) this.#runs.delete(runKey(run.entry));
      this.#dueMs = 0;
      this.#dependencies.wake?.();
    }
  }

  #skip(run: RuleRun, count: number): void {
    run.facts = { ...run.facts, missed: run.facts.missed + count };
    this.#dependencies.counters.add("ruleEvaluationsMissed", count);
  }

  /** Whether the evaluation came to its end: what a group that is deleted has begun is ended until then. */
  async #work(run: RuleRun, timeMs: number): Promise<boolean> {
    const { workers, counters, publicUrl } = this.#dependencies;
    const { tenant } = run.entry;
    const sendsAll = timeMs - run.sentAllMs >= RULE_RESEND_MS;
    const work = { document: run.text, state: run.facts.state, timeMs, externalUrl: publicUrl, isNew: run.isNew };
    let parts: EvaluationParts;
    try {
      parts = await workers.evaluate(tenant, { ...work, restores: run.evaluations > 0, sendsAll });
    } catch (error) {
      if (!(error instanceof RuleWorkError)) throw error;
      counters.add("ruleFailures", run.group.rules.length);
      run.facts = { ...run.facts, evaluatedMs: timeMs, problem: error.message };
      return false;
    }
    await this.#take(run, timeMs, parts, sendsAll);
    return true;
  }

  async #take(run: RuleRun, timeMs: number, { group, state, request }: EvaluationParts, sendsAll: boolean): Promise<void> {
    const { counters, samples } = this.#dependencies;
    const { tenant } = run.entry;
    run.evaluations++;
    run.facts = { evaluatedMs: timeMs, seconds: group.seconds, problem: null, rules: group.rules, missed: run.facts.missed, state };
    counters.add("ruleEvaluations", group.rules.length);
    counters.add("ruleFailures", group.rules.filter(({ lastError }) => lastError !== null).length);
    counters.add("ruleSeconds", group.seconds);
    const [isTaken] = await Promise.all([samples.send(tenant, request), this.#sendAlerts(run, timeMs, group.changes, sendsAll)]);
    counters.add(isTaken ? "ruleSamples" : "ruleSamplesLost", group.samples);
  }

  /** Where the store takes nothing, all are sent with the next evaluation. */
  async #sendAlerts(run: RuleRun, timeMs: number, changes: readonly RuleAlertChange[], sendsAll: boolean): Promise<void> {
    const { alerts } = this.#dependencies;
    const { tenant, file, document } = run.entry;
    const id = groupIdOf(file, document.name);
    try {
      await alerts.take(tenant, id, changes);
      if (sendsAll) run.sentAllMs = timeMs;
      const silentMs = RULE_SILENT_INTERVALS * Math.max(run.intervalMs, RULE_RESEND_MS);
      if (run.isDeleted || timeMs - this.#startedMs > silentMs) await alerts.endUnseen(tenant, id);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      run.sentAllMs = 0;
    }
  }

  /** Ends alerts of groups that were deleted while the server was down. */
  #endUnknown(wallMs: number): void {
    if (this.#hasEndedUnknown || wallMs - this.#startedMs <= RULE_SILENT_INTERVALS * RULE_RESEND_MS) return;
    this.#hasEndedUnknown = true;
    const { ruleAlerts, alerts } = this.#dependencies;
    for (const { tenant, group } of [...ruleAlerts.groups()]) {
      if (this.#runs.has(JSON.stringify([tenant, group]))) continue;
      background(EVALUATION, alerts.endUnseen(tenant, group));
    }
  }
}

/** What a group is found by among those of all tenants. */
function runKey({ tenant, file, document }: Pick<RuleGroupEntry, "tenant" | "file" | "document">): string {
  return JSON.stringify([tenant, groupIdOf(file, document.name)]);
}

/** A group's interval, and its first moment behind `nowMs`. */
export function evaluationsOf(entry: Pick<RuleGroupEntry, "tenant" | "file" | "document">, nowMs: number) {
  const group = groupOfDocument(entry.document);
  const intervalMs = group.intervalMs === undefined || group.intervalMs === 0 ? RULE_INTERVAL_MS : group.intervalMs;
  const offsetMs = Number.parseInt(hash128(runKey(entry)).slice(0, 8), 16) % intervalMs;
  return { group, intervalMs, nextMs: Math.floor((nowMs - offsetMs) / intervalMs) * intervalMs + offsetMs + intervalMs };
}
