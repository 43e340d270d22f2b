// A coordinator whose work for rules is done at once, in this thread.

import type { RuleWorkWanted, TriedGroup, TryRules } from "../../src/core/protocol/rule-work.ts";
import { documentOf } from "../../src/domain/rules/file/group-document.ts";
import { readRuleFile } from "../../src/domain/rules/file/rule-file.ts";
import type { Rig } from "./coordinator-rig.ts";

const NOTHING_FIRED: TriedGroup = { problem: null, rules: [], alerts: [] };

/** Answers each piece of work as it comes; a trial with what `tried` says. */
export async function answerRuleWork(rig: Rig, tried: (work: TryRules) => TriedGroup = () => NOTHING_FIRED): Promise<void> {
  for (;;) {
    const at = rig.messages.findIndex(({ type }) => type === "rule-work");
    if (at < 0) return;
    const [{ id, work }] = rig.messages.splice(at, 1) as unknown as [RuleWorkWanted];
    if (work.kind === "evaluate") throw new Error("nothing is evaluated here");
    const result = work.kind === "try" ? tried(work) : readResult(work.text);
    await rig.coordinator.handle({ type: "rule-work-done", id, status: 200, body: JSON.stringify(result) });
    await settled();
  }
}

function readResult(text: string) {
  const { groups, problems } = readRuleFile(text);
  return { documents: groups.map((group) => JSON.stringify(documentOf(group))), problems };
}

/** Lets what waits for an answer go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
