// The parts that rules have in the coordinator, made and tied together.
import type { RuleSamples, RuleWorkWanted } from "../../core/protocol/rule-work.ts";
import type { Log } from "../../core/telemetry/log-event.ts";
import { DEFAULT_TENANT } from "../../domain/access/access-policy.ts";
import type { AccessBooks } from "../access/access-context.ts";
import type { StateWith } from "../state/stored-state.ts";
import { RuleAlerts, type RuleAlertsDependencies } from "./rule-alerts.ts";
import type { RuleBooks } from "./rule-book.ts";
import { RuleDirectory } from "./rule-directory.ts";
import { RuleSampleSender, type RuleSampleSenderDependencies } from "./rule-samples.ts";
import { RuleSchedule, type RuleScheduleDependencies } from "./rule-schedule.ts";
import { RuleWorkers } from "./rule-workers.ts";

export interface RulesOptions {
  /** RULES_TENANT; `default` where it is not given. */
  readonly tenant: string | undefined;
  /** PUBLIC_URL; empty where there is none. */
  readonly publicUrl: string;
}

export interface RulesDependencies
  extends RuleAlertsDependencies,
    RuleSampleSenderDependencies,
    Pick<RuleScheduleDependencies, "counters" | "monotonicMs" | "wake"> {
  readonly state: RuleAlertsDependencies["state"] & StateWith<unknown, RuleBooks & Pick<AccessBooks, "tenants">>;
  readonly log: Log;
  emit(message: RuleWorkWanted | RuleSamples): void;
}

/** Makes the workers, the directory and the schedule of one coordinator. */
export function makeRules({ tenant = DEFAULT_TENANT, publicUrl }: RulesOptions, dependencies: RulesDependencies) {
  const { rules, ruleAlerts, tenants } = dependencies.state.configured;
  const workers = new RuleWorkers(dependencies);
  const directory = new RuleDirectory(tenant, { ...dependencies, rules, workers, hasTenant: (name) => tenants.get(name) !== undefined });
  const samples = new RuleSampleSender(dependencies);
  const alerts = new RuleAlerts(dependencies);
  const schedule = new RuleSchedule({ ...dependencies, publicUrl, rules, ruleAlerts, workers, samples, alerts });
  return { workers, directory, samples, schedule };
}
