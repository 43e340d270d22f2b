// A file of rules that has one group, as requests bring it: read by a query worker.
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { RULE_PROBLEMS_SHOWN_MAX, RULES_PER_GROUP_MAX } from "../../core/config/rule-limits.ts";
import type { RuleGroupDocument } from "../../domain/rules/file/group-document.ts";
import type { ChangeRequest } from "../queries/query-context.ts";
import { RuleWorkError } from "./rule-workers.ts";
import type { RulesContext } from "./rules-context.ts";

/** The group of a file that has but one, of this name where one is given; what is wrong with the file is told with its lines. */
export async function readOneGroup(
  { ruleWorkers }: Pick<RulesContext, "ruleWorkers">,
  { principal }: ChangeRequest,
  text: string,
  name?: string,
): Promise<Outcome<RuleGroupDocument>> {
  const read = await workDone(ruleWorkers.read(principal.tenant, text));
  if (!read.ok) return read;
  const { documents, problems } = read.value;
  if (problems.length > 0) return refused("bad_request", problems.slice(0, RULE_PROBLEMS_SHOWN_MAX).join("\n"));
  return theOne(
    documents.map((document) => JSON.parse(document) as RuleGroupDocument),
    name,
  );
}

/** What a query worker has made for a request; `overloaded` where none does the work. */
export async function workDone<T>(work: Promise<T>): Promise<Outcome<T>> {
  try {
    return done(await work);
  } catch (error) {
    if (error instanceof RuleWorkError) return refused("overloaded", `${error.message}; try again`);
    throw error;
  }
}

function theOne(documents: readonly RuleGroupDocument[], name?: string): Outcome<RuleGroupDocument> {
  const [found] = documents;
  if (found === undefined || documents.length > 1 || (name !== undefined && found.name !== name)) {
    const names = documents.map((document) => shown(document.name)).join(", ");
    const wanted = name === undefined ? "one group" : `one group, ${shown(name)}`;
    return refused("bad_request", `the file must have ${wanted}; it has ${names === "" ? "none" : names}: write each by its own name`);
  }
  if (found.rules.length <= RULES_PER_GROUP_MAX) return done(found);
  return refused(
    "unprocessable",
    `a group has at most ${RULES_PER_GROUP_MAX} rules, this one has ${found.rules.length}: make several of it`,
  );
}
