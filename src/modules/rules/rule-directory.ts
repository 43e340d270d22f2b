// The groups of RULES_DIR in the Book: each file is read by a worker when its text has changed; one that is wrong keeps the groups that it had, as Prometheus keeps
// its configuration. A group whose name the API has already is left out and told.
import { RULE_PROBLEMS_SHOWN_MAX } from "../../core/config/rule-limits.ts";
import { background, task } from "../../core/faults/guard.ts";
import type { RuleFiles } from "../../core/protocol/rule-work.ts";
import type { Log } from "../../core/telemetry/log-event.ts";
import type { RuleGroupDocument } from "../../domain/rules/file/group-document.ts";
import type { RuleBook } from "./rule-book.ts";
import { groupIdOf, type RuleGroupEntry } from "./rule-group-row.ts";
import { RuleWorkError, type RuleWorkers } from "./rule-workers.ts";

export interface RuleDirectoryDependencies {
  readonly rules: RuleBook;
  readonly workers: Pick<RuleWorkers, "read">;
  readonly log: Log;
  nowMs(): number;
  /** Whether there is a tenant of that name. */
  hasTenant(tenant: string): boolean;
}

const READING = task("the files of RULES_DIR");

/** Keeps the Book as the files are. */
export class RuleDirectory {
  readonly #tenant: string;
  readonly #dependencies: RuleDirectoryDependencies;
  /** Texts that were read without a fault, by file. */
  readonly #read = new Map<string, string>();
  /** Files with faults, in the order of their names. */
  #faulty = new Map<string, string>();
  #waiting: RuleFiles | undefined;
  #isReading = false;

  /** `tenant` is RULES_TENANT, which all groups of the files are of. */
  constructor(tenant: string, dependencies: RuleDirectoryDependencies) {
    this.#tenant = tenant;
    this.#dependencies = dependencies;
  }

  /** Files that could not be taken, with why. */
  get faults(): ReadonlyMap<string, string> {
    return this.#faulty;
  }

  /** Takes the directory as it is now; of several that come while one is read, the last counts. */
  take(files: RuleFiles): void {
    this.#waiting = files;
    if (!this.#isReading) background(READING, this.#readAll());
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    try {
      for (let files = this.#next(); files !== undefined; files = this.#next()) await this.#readFiles(files);
    } finally {
      this.#isReading = false;
    }
  }

  #next(): RuleFiles | undefined {
    const files = this.#waiting;
    this.#waiting = undefined;
    return files;
  }

  async #readFiles({ files, unread }: RuleFiles): Promise<void> {
    const { log, hasTenant } = this.#dependencies;
    const faulty = new Map<string, string>(unread.map((why) => [why, "cannot be read"]));
    if (files.length > 0 && !hasTenant(this.#tenant)) faulty.set(this.#tenant, "RULES_TENANT names no tenant");
    else for (const { file, text } of files) await this.#readFile(file, text, faulty);
    const names = new Set(files.map(({ file }) => file));
    if (unread.length === 0) for (const file of [...this.#read.keys()]) if (!names.has(file)) this.#replace(file, undefined, []);
    for (const [file, why] of faulty) if (this.#faulty.get(file) !== why) log("error", `rules of ${file} are not in force: ${why}`);
    this.#faulty = faulty;
  }

  async #readFile(file: string, text: string, faulty: Map<string, string>): Promise<void> {
    if (this.#read.get(file) === text) return;
    try {
      const { documents, problems } = await this.#dependencies.workers.read(this.#tenant, text);
      const groups = documents.map((document) => JSON.parse(document) as RuleGroupDocument);
      const problem = problems.length > 0 ? problems.slice(0, RULE_PROBLEMS_SHOWN_MAX).join("\n") : this.#sizeProblem(file, groups);
      if (problem !== undefined) faulty.set(file, problem);
      else this.#replace(file, text, this.#ownNames(file, groups, faulty));
    } catch (error) {
      if (!(error instanceof RuleWorkError)) throw error;
      faulty.set(file, error.message);
    }
  }

  #sizeProblem(file: string, groups: readonly RuleGroupDocument[]): string | undefined {
    const { shares } = this.#dependencies.rules;
    const own = this.#entriesOf(file).reduce((sum, { document }) => sum + document.rules.length, 0);
    const more = groups.reduce((sum, { rules }) => sum + rules.length, -own);
    return more <= 0 || shares.admits(this.#tenant, more) ? undefined : `there may be no ${more} more rules`;
  }

  /** Groups whose names the API has not. */
  #ownNames(file: string, groups: readonly RuleGroupDocument[], faulty: Map<string, string>): RuleGroupDocument[] {
    const { rules } = this.#dependencies;
    const taken = groups.filter(({ name }) => rules.find(this.#tenant, groupIdOf("", name)) !== undefined);
    if (taken.length > 0) faulty.set(file, `groups of these names came by the API: ${taken.map(({ name }) => name).join(", ")}`);
    return groups.filter((group) => !taken.includes(group));
  }

  #entriesOf(file: string): RuleGroupEntry[] {
    return this.#dependencies.rules.of(this.#tenant).filter((entry) => entry.file === file);
  }

  #replace(file: string, text: string | undefined, groups: readonly RuleGroupDocument[]): void {
    const { rules, nowMs } = this.#dependencies;
    const before = new Map(this.#entriesOf(file).map((entry) => [entry.document.name, entry]));
    for (const document of groups) {
      const json = JSON.stringify(document);
      const known = before.get(document.name);
      before.delete(document.name);
      if (known?.text === json) continue;
      rules.put({ tenant: this.#tenant, file, document, text: json, changedBy: null, changedMs: nowMs() });
    }
    for (const entry of before.values()) rules.remove(this.#tenant, groupIdOf(file, entry.document.name));
    if (text === undefined) this.#read.delete(file);
    else this.#read.set(file, text);
  }
}
