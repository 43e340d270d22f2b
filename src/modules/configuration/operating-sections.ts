// Sections of the configuration's document of what people do: runbooks, budgets of pages, known days.
import { bodySteps } from "../../api/body-parsing.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { HIDDEN } from "../../core/text/secret.ts";
import type { RuleGroupDocument } from "../../domain/rules/file/group-document.ts";
import { isName } from "../../domain/series/name-rule.ts";
import { type BudgetInput, setPageBudgets } from "../notification/page-report-handlers.ts";
import { readOneGroup } from "../rules/one-group.ts";
import { deleteRuleGroup, writeRuleGroup } from "../rules/rule-group-handlers.ts";
import { HTTP_STEP, stepName } from "../runbooks/runbook-definition.ts";
import { changeRunbook, createRunbook, deleteRunbook, listRunbooks } from "../runbooks/runbook-handlers.ts";
import { setCalendar } from "../watchdog/calendar-handlers.ts";
import {
  askHandler,
  type ConfigurationEntry,
  type ConfigurationSection,
  keyOf,
  only,
  readAll,
  writeBody,
} from "./configuration-section.ts";

const RUNBOOK_MEMBERS = ["id", "name", "match", "dry_run", "approval_required", "auto", "steps", "secrets"];

/** By their ids. Secrets and headers are `***`, which leaves those of a runbook that is there as they are. */
export const runbooks: ConfigurationSection = {
  name: "runbooks",
  list: async (context, request) => {
    const rows = await readAll(["runbooks", listRunbooks, "runbooks"], context, request);
    return rows.map((row) => only(row, RUNBOOK_MEMBERS));
  },
  key: keyOf("id"),
  parse: function* (entry) {
    const parsed = yield* bodySteps("createRunbook", JSON.stringify(entry));
    if (!parsed.ok) return parsed;
    if (parsed.value.id === undefined) return refused("invalid_field", "id is missing: it is what a runbook is known by", "id");
    const steps = parsed.value.steps.map((step, index) => ({
      ...(step.type === "http" && HTTP_STEP),
      ...step,
      name: stepName(step, index),
    }));
    return done({ ...parsed.value, steps }) as Outcome<ConfigurationEntry>;
  },
  write: (context, request, body, isThere) =>
    isThere
      ? writeBody(["changeRunbook", changeRunbook], context, request, { body, path: { id: String(body.id) } })
      : writeBody(["createRunbook", createRunbook], context, request, { body }),
  incomplete: ({ secrets, steps }) => {
    const named = [secrets, ...(steps as ConfigurationEntry[]).map(({ headers }) => headers)];
    const isHidden = named.some((values) => Object.values((values ?? {}) as object).includes(HIDDEN));
    return isHidden ? `secrets or headers are ${HIDDEN} in the file, and there is no such runbook yet: put them in` : undefined;
  },
  remove: (context, request, { id }) => askHandler(["deleteRunbook", deleteRunbook], context, request, { path: { id } }),
};

export const pageBudgets: ConfigurationSection = {
  name: "page_budgets",
  list: async ({ state }, { principal }) =>
    state.configured.pageBudgets.of(principal.tenant).map(({ team, pagesPerWeek }) => ({ team, pages_per_week: pagesPerWeek })),
  key: keyOf("team"),
  parse: function* ({ team, ...rest }) {
    if (typeof team !== "string" || !isName(team))
      return refused("invalid_field", `team must be a label's text, got ${shown(String(team))}`, "team");
    const parsed = yield* bodySteps("setPageBudget", JSON.stringify(rest));
    if (!parsed.ok) return parsed;
    if (parsed.value.pages_per_week === null)
      return refused("invalid_field", "pages_per_week must be a number: an import deletes nothing", "pages_per_week");
    return done({ team, ...parsed.value }) as Outcome<ConfigurationEntry>;
  },
  writeSome: (context, request, entries) => setPageBudgets(context, request, entries as unknown as readonly BudgetInput[]),
  remove: async (context, request, { team }) => {
    const [outcome] = await setPageBudgets(context, request, [{ team: String(team), pages_per_week: null }]);
    return outcome ?? done(null);
  },
};

/** By their dates. They are stored as one, so that one change writes all. */
export const calendar: ConfigurationSection = {
  name: "calendar",
  list: async ({ state }, { principal }) =>
    [...(state.configured.watchdog.calendars.of(principal.tenant)?.days ?? [])].map((day) => ({ ...day })),
  key: keyOf("date"),
  parse: function* (entry) {
    const parsed = yield* bodySteps("setCalendar", JSON.stringify({ days: [entry] }));
    return parsed.ok
      ? (done({ ...parsed.value.days[0], yearly: parsed.value.days[0]?.yearly ?? false }) as Outcome<ConfigurationEntry>)
      : parsed;
  },
  writeAll: (context, request, entries) => writeDays(entries, context, request),
  remove: async (context, request, { date }) => {
    const days = (await calendar.list(context, request)).filter((day) => day.date !== date);
    return writeBody(["setCalendar", setCalendar], context, request, { body: { days } });
  },
};

const writeDays = async (entries: readonly ConfigurationEntry[], ...[context, request]: Parameters<ConfigurationSection["list"]>) => {
  const days = new Map((await calendar.list(context, request)).map((day) => [day.date, day]));
  for (const entry of entries) days.set(entry.date, entry);
  return writeBody(["setCalendar", setCalendar], context, request, { body: { days: [...days.values()] } });
};

/** By their names: those that came by the API, as RULES_DIR is a folder of its server. */
export const ruleGroups: ConfigurationSection = {
  name: "rule_groups",
  list: async ({ state }, { principal }) => {
    const entries = state.configured.rules.of(principal.tenant).filter(({ file }) => file === "");
    return entries.map(({ document }) => document as unknown as ConfigurationEntry);
  },
  key: keyOf("name"),
  parse: function* (entry) {
    yield; // each entry is a step
    return done(entry);
  },
  read: async (context, request, entry) => {
    const read = await readOneGroup(context, request, fileOf(entry));
    const there = read.ok ? context.state.configured.rules.named(request.principal.tenant, read.value.name) : undefined;
    if (there !== undefined && there.file !== "")
      return refused("conflict", `a file of RULES_DIR has a group of the name ${shown(there.document.name)}`);
    return read as Outcome<ConfigurationEntry>;
  },
  write: (context, request, entry) => writeRuleGroup(context, request, entry as unknown as RuleGroupDocument),
  remove: (context, request, { name }) => askHandler(["deleteRuleGroup", deleteRuleGroup], context, request, { path: { name } }),
};

function fileOf(group: ConfigurationEntry): string {
  return JSON.stringify({ groups: [group] });
}
