// GET /api/v1/rule-groups and GET, PUT, DELETE /api/v1/rule-groups/{name}.
// A group of rules as the API shows it.
import { listed } from "../../api/page-token.ts";
import { created, done, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { RuleGroupDocument } from "../../domain/rules/file/group-document.ts";
import type { Change } from "../access/changes.ts";
import type { ChangeRequest, QueryRequest } from "../queries/query-context.ts";
import { readOneGroup } from "./one-group.ts";
import { groupIdOf, type RuleGroupEntry } from "./rule-group-row.ts";
import type { RulesContext } from "./rules-context.ts";

/** A page of the tenant's groups. */
export function listRuleGroups({ state }: RulesContext, request: QueryRequest<"ruleGroups">): Outcome<unknown> {
  const all = state.configured.rules.of(request.principal.tenant);
  const list = { endpoint: "ruleGroups", positionOf: ({ file, document }: (typeof all)[number]) => [groupIdOf(file, document.name)] };
  return listed(state, request, list, all, (page) => ({ rule_groups: page.map(ruleGroupView), total: all.length }));
}

/** One group, by its name. */
export function oneRuleGroup({ state }: RulesContext, { principal, path }: QueryRequest<"ruleGroup">): Outcome<unknown> {
  const entry = state.configured.rules.named(principal.tenant, path.name ?? "");
  return entry === undefined ? unknownGroup(path.name ?? "") : done(ruleGroupView(entry));
}

/** Takes a file of one group, as Prometheus has it. */
export async function setRuleGroup(context: RulesContext, request: QueryRequest<"setRuleGroup">): Promise<Outcome<unknown>> {
  const name = request.path.name ?? "";
  const read = await readOneGroup(context, request, request.body, name);
  return read.ok ? writeRuleGroup(context, request, read.value) : read;
}

/** Writes a group that has been read. */
export function writeRuleGroup(context: RulesContext, request: ChangeRequest, document: RuleGroupDocument): Promise<Outcome<unknown>> {
  return context.change<unknown>(request, () => storedGroup(context, request, document));
}

/** Ends a group that came by the API. */
export function deleteRuleGroup(context: RulesContext, request: QueryRequest<"deleteRuleGroup">): Promise<Outcome<unknown>> {
  const { rules } = context.state.configured;
  const { tenant } = request.principal;
  const name = request.path.name ?? "";
  return context.change(request, () => {
    const before = rules.named(tenant, name);
    if (before === undefined) return unknownGroup(name);
    if (before.file !== "") return ofDirectory(before);
    return {
      ok: true,
      note: { action: "rule_group.delete", object: name, before: ruleGroupView(before), after: null },
      operations: [rules.removal(before)],
      apply: () => rules.remove(tenant, groupIdOf(before.file, name)),
      outcome: noContent(),
    };
  });
}

function storedGroup(context: RulesContext, { principal }: ChangeRequest, document: RuleGroupDocument): PlannedGroup {
  const { rules } = context.state.configured;
  const { tenant, subject } = principal;
  const before = rules.named(tenant, document.name);
  if (before !== undefined && before.file !== "") return ofDirectory(before);
  const text = JSON.stringify(document);
  if (before?.text === text) return { ok: "unchanged", outcome: done(ruleGroupView(before)) };
  const more = document.rules.length - (before?.document.rules.length ?? 0);
  if (more > 0 && !rules.shares.admits(tenant, more)) {
    return refused(
      "unprocessable",
      `there are ${rules.shares.used(tenant)} rules of yours and ${rules.shares.taken} in all; there is no room for ${more} more`,
    );
  }
  const entry: RuleGroupEntry = { tenant, file: "", document, text, changedBy: subject, changedMs: context.nowMs() };
  const after = ruleGroupView(entry);
  return {
    ok: true,
    note: { action: "rule_group.set", object: document.name, before: before === undefined ? null : ruleGroupView(before), after },
    operations: [rules.operation(entry)],
    apply: () => rules.put(entry),
    outcome: before === undefined ? created(after) : done(after),
  };
}

type PlannedGroup = Change<unknown> | { readonly ok: "unchanged"; readonly outcome: Outcome<unknown> } | ReturnType<typeof refused>;

function ofDirectory({ file, document }: RuleGroupEntry) {
  return refused(
    "conflict",
    `the group ${shown(document.name)} stands in the file ${shown(file)} of RULES_DIR: change it there, or take another name`,
  );
}

function unknownGroup(name: string) {
  return refused("not_found", `no group of rules has the name ${shown(name)}; GET /api/v1/rule-groups lists those that there are`);
}

/** The group with where it comes from. */
function ruleGroupView({ file, document, changedBy, changedMs }: RuleGroupEntry) {
  return {
    name: document.name,
    source: file === "" ? "api" : "directory",
    file,
    changed_by: changedBy,
    changed_at: formatRfc3339(changedMs),
    definition: document,
  };
}
