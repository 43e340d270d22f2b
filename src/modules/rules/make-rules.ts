// The parts that rules have in the coordinator, made and tied together.
import type { RuleWorkWanted } from "../../core/protocol/rule-work.ts";
import type { Log } from "../../core/telemetry/log-event.ts";
import { DEFAULT_TENANT } from "../../domain/access/access-policy.ts";
import type { AccessBooks } from "../access/access-context.ts";
import type { StateWith } from "../state/stored-state.ts";
import { RuleDirectory } from "./rule-directory.ts";
import { RuleWorkers } from "./rule-workers.ts";
import type { RuleBooks } from "./rules-context.ts";

export interface RulesOptions {
  /** RULES_TENANT; `default` where it is not given. */
  readonly tenant: string | undefined;
}

export interface RulesDependencies {
  readonly state: StateWith<unknown, RuleBooks & Pick<AccessBooks, "tenants">>;
  readonly log: Log;
  nowMs(): number;
  emit(message: RuleWorkWanted): void;
}

/** Makes the workers and the directory of one coordinator. */
export function makeRules({ tenant = DEFAULT_TENANT }: RulesOptions, dependencies: RulesDependencies) {
  const { rules, tenants } = dependencies.state.configured;
  const workers = new RuleWorkers(dependencies);
  const directory = new RuleDirectory(tenant, { ...dependencies, rules, workers, hasTenant: (name) => tenants.get(name) !== undefined });
  return { workers, directory };
}
