// Work for rules: what takes long and is not of this thread's own is done here, for the coordinator.
import type { ReadRulesResult, RuleWork } from "../../core/protocol/rule-work.ts";
import { documentOf } from "../../domain/rules/file/group-document.ts";
import { readRuleFile } from "../../domain/rules/file/rule-file.ts";
import type { CallAnswer, CallContext } from "./query-call.ts";

/** Does the work of a call. */
export async function answerRuleWork({ call }: CallContext): Promise<CallAnswer> {
  const work = call.work as RuleWork;
  return { status: 200, body: jsonBytes(readResult(work.text)) };
}

function readResult(text: string): ReadRulesResult {
  const { groups, problems } = readRuleFile(text);
  return { documents: groups.map((group) => JSON.stringify(documentOf(group))), problems };
}

function jsonBytes(value: unknown): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(JSON.stringify(value)));
}
