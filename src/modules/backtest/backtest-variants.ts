// The two runs of a backtest: what is in force, and what the request would have be.
import type { BodyOf } from "../../api/endpoints.ts";
import { overridesOf } from "../../api/shapes/watchdog-settings.ts";
import { INHIBITIONS } from "../../domain/alerting/inhibition/built-in-inhibitions.ts";
import { compileInhibition, type InhibitionRules } from "../../domain/alerting/inhibition/inhibition-rule.ts";
import type { Silence } from "../../domain/alerting/silence.ts";
import type { BacktestVariant } from "../../domain/backtest/history.ts";
import { effectiveSettings } from "../../domain/detection/watchdog-settings.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { BacktestContext } from "./backtest-context.ts";

type Body = BodyOf<"backtest">;

/** Whether any pair of the tenant's may have a minimum of traffic in one of the runs. */
export function wantsTraffic({ state }: BacktestContext, { principal, body }: QueryRequest<"backtest">): boolean {
  const { table } = state.configured.watchdog;
  const set = table.listOf(principal.tenant).map(({ overrides }) => overrides.minimumTraffic ?? 0);
  return [body.settings?.minimum_traffic ?? 0, table.initial.minimumTraffic, ...set].some((minimum) => minimum > 0);
}

/** Settings in force, and the same with the changes of the request. */
export function variantsOf(
  { state }: BacktestContext,
  { principal, body }: QueryRequest<"backtest">,
): { readonly before: BacktestVariant; readonly after: BacktestVariant } {
  const { tenant } = principal;
  const { watchdog, silences, inhibitions } = state.configured;
  const settingsOf: BacktestVariant["settingsOf"] = (of, serviceId, metricName) => watchdog.settingsOf(of, serviceId, metricName);
  const overrides = overridesOf(body.settings ?? {});
  const present = silences.listOf(tenant);
  const removed = new Set(body.silences?.remove);
  return {
    before: { settingsOf, silences: present, inhibitions: INHIBITIONS, inhibitionRules: inhibitions },
    after: {
      settingsOf: (...of) => effectiveSettings(settingsOf(...of), overrides),
      silences: [...present.filter(({ id }) => !removed.has(id)), ...addedSilences(tenant, body.silences?.add ?? [])],
      inhibitions: INHIBITIONS,
      inhibitionRules: changedRules(tenant, state.configured, body.inhibitions),
    },
  };
}

function addedSilences(tenant: string, added: NonNullable<NonNullable<Body["silences"]>["add"]>): Silence[] {
  return added.map(({ matchers, starts_at: startsAtMs, ends_at: endsAtMs }, number) => ({
    id: `added ${number + 1}`,
    tenant,
    matchers,
    when: { kind: "once", startsAtMs, endsAtMs },
    comment: "",
  }));
}

/** The tenant's rules without those that are removed, and with those that are added, which are asked last. */
function changedRules(
  tenant: string,
  { inhibitions: present, patterns }: BacktestContext["state"]["configured"],
  changes: Body["inhibitions"],
): InhibitionRules {
  const removed = new Set(changes?.remove);
  const added = (changes?.add ?? []).map(({ source_matchers: sourceMatchers, target_matchers: targetMatchers, equal, comment }, number) =>
    compileInhibition({ id: `added ${number + 1}`, tenant, sourceMatchers, targetMatchers, equal, comment }, patterns),
  );
  const rules = [...present.rulesOf(tenant).filter(({ rule }) => !removed.has(rule.id)), ...added];
  return { rulesOf: (of) => (of === tenant ? rules : []) };
}
