// What main does for rules: work of the coordinator goes to the query workers, the files of RULES_DIR go to the coordinator.
import { RuleFolder } from "../../adapters/rules/rule-folder.ts";
import { PROMETHEUS_STATUS, prometheusErrorBody } from "../../api/prometheus/prometheus-envelope.ts";
import { RULE_DIRECTORY_INTERVAL_MS } from "../../core/config/rule-limits.ts";
import { every, task } from "../../core/faults/guard.ts";
import type { RuleFiles, RuleWork, RuleWorkDone, RuleWorkWanted } from "../../core/protocol/rule-work.ts";

/** A piece of work as the query workers take it. */
interface RuleCall {
  readonly name: "rule_work";
  readonly tenant: string;
  readonly parameters: string;
  readonly label: null;
  readonly work: RuleWork;
}

/** The query workers, as rules call them. */
interface RuleWorkersFront {
  /** Has one of them do it, behind others of its tenant; undefined where too many wait. */
  call(call: RuleCall, onAnswer: (status: number, body: string | Uint8Array) => void): unknown;
}

const FILES = task("the files of RULES_DIR");

/** Carries work and files of rules between the threads. */
export class RuleForwarder {
  readonly #workers: RuleWorkersFront;
  readonly #send: (message: RuleFiles | RuleWorkDone) => void;

  /** `send` gives the coordinator what it waits for. */
  constructor(workers: RuleWorkersFront, send: (message: RuleFiles | RuleWorkDone) => void) {
    this.#workers = workers;
    this.#send = send;
  }

  /** Hands a piece of work to a query worker. */
  take({ id, tenant, work }: RuleWorkWanted): void {
    const done = (status: number, body: string | Uint8Array) => this.#send({ type: "rule-work-done", id, status, body });
    const isTaken = this.#workers.call({ name: "rule_work", tenant, parameters: "", label: null, work }, done);
    if (isTaken === undefined) done(PROMETHEUS_STATUS.unavailable, prometheusErrorBody("unavailable", "too many queries wait already"));
  }

  /** Follows RULES_DIR from now on; an empty path is none. */
  follow(path: string): void {
    if (path === "") return;
    const folder = new RuleFolder(path);
    const read = () => {
      const changed = folder.changed();
      if (changed !== undefined) this.#send(changed);
    };
    read();
    every(RULE_DIRECTORY_INTERVAL_MS, FILES, read).unref();
  }
}
