// Work for rules: what takes long and is not of the coordinator's own is done here for it.
import type { ReadRulesResult } from "../../core/protocol/rule-work.ts";
import { documentOf } from "../../domain/rules/file/group-document.ts";
import { readRuleFile } from "../../domain/rules/file/rule-file.ts";
import type { CallAnswer, CallContext } from "./query-call.ts";
import { evaluatedGroup } from "./rule-evaluation.ts";
import { triedGroup } from "./rule-trial.ts";

/** Does the work of a call. */
export async function answerRuleWork(context: CallContext): Promise<CallAnswer> {
  const { work } = context.call;
  if (work === undefined) throw new Error("a call for rules says what is to be done");
  if (work.kind === "evaluate") return { status: 200, body: await evaluatedGroup(context, work) };
  return jsonAnswer(work.kind === "try" ? await triedGroup(context, work) : readResult(work.text));
}

function jsonAnswer(value: unknown): CallAnswer {
  return { status: 200, body: new Uint8Array(Buffer.from(JSON.stringify(value))) };
}

function readResult(text: string): ReadRulesResult {
  const { groups, problems } = readRuleFile(text);
  return { documents: groups.map((group) => JSON.stringify(documentOf(group))), problems };
}
