// A coordinator whose work for rules is done at once, in this thread.

import type { RuleWorkWanted } from "../../src/core/protocol/rule-work.ts";
import { documentOf } from "../../src/domain/rules/file/group-document.ts";
import { readRuleFile } from "../../src/domain/rules/file/rule-file.ts";
import type { Rig } from "./coordinator-rig.ts";

/** Answers each piece of work as it comes. */
export async function answerRuleWork(rig: Rig): Promise<void> {
  for (;;) {
    const at = rig.messages.findIndex(({ type }) => type === "rule-work");
    if (at < 0) return;
    const [{ id, work }] = rig.messages.splice(at, 1) as unknown as [RuleWorkWanted];
    if (work.kind !== "read") throw new Error("only files are read here");
    const { groups, problems } = readRuleFile(work.text);
    const body = JSON.stringify({ documents: groups.map((group) => JSON.stringify(documentOf(group))), problems });
    await rig.coordinator.handle({ type: "rule-work-done", id, status: 200, body });
    await settled();
  }
}

/** Lets what waits for an answer go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
