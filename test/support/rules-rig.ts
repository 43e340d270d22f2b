// A coordinator whose work for rules is done at once, in this thread.

import type { ReadRules, RuleWorkWanted, TriedGroup, TryRules } from "../../src/core/protocol/rule-work.ts";
import { documentOf } from "../../src/domain/rules/file/group-document.ts";
import { readRuleFile } from "../../src/domain/rules/file/rule-file.ts";
import type { Rig } from "./coordinator-rig.ts";

const NOT_EVALUATED = { status: 503, body: JSON.stringify({ error: "nothing is evaluated here" }) };
const NOTHING_FIRED: TriedGroup = { problem: null, rules: [], alerts: [] };

/** Answers each piece of work as it comes; a trial with what `tried` says. */
export async function answerRuleWork(rig: Rig, tried: (work: TryRules) => TriedGroup = () => NOTHING_FIRED): Promise<void> {
  for (;;) {
    const at = rig.messages.findIndex(({ type }) => type === "rule-work");
    if (at < 0) return;
    const [{ id, work }] = rig.messages.splice(at, 1) as unknown as [RuleWorkWanted];
    const done = work.kind === "evaluate" ? NOT_EVALUATED : { status: 200, body: resultOf(work, tried) };
    await rig.coordinator.handle({ type: "rule-work-done", id, ...done });
    await settled();
  }
}

function resultOf(work: ReadRules | TryRules, tried: (work: TryRules) => TriedGroup): string {
  return JSON.stringify(work.kind === "try" ? tried(work) : readResult(work.text));
}

function readResult(text: string) {
  const { groups, problems } = readRuleFile(text);
  return { documents: groups.map((group) => JSON.stringify(documentOf(group))), problems };
}

/** What `answer` becomes, where pieces of work for rules are done meanwhile, however many; a trial as answerRuleWork() says. */
export async function withRuleWork<Answer>(rig: Rig, answer: Promise<Answer>, tried?: (work: TryRules) => TriedGroup): Promise<Answer> {
  let pending = true;
  const ended = answer.finally(() => {
    pending = false;
  });
  ended.catch(() => {});
  await settled();
  while (pending) {
    await answerRuleWork(rig, tried);
    await settled();
  }
  return await ended;
}

/** Lets what waits for an answer go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
