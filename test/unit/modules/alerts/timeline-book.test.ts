// Lines of a timeline are added without reading those that are there, until there may be too many of them.
import { expect, it } from "vitest";
import { CONTROL_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { TIMELINE_LINES_FIRST, TIMELINE_LINES_MAX } from "../../../../src/core/config/alert-limits.ts";
import type { Alert } from "../../../../src/domain/alerting/paging/alert.ts";
import { linesOf, lineText, type TimelineLine } from "../../../../src/domain/alerting/timeline.ts";
import { type SentenceFacts, sentenceText } from "../../../../src/domain/anomaly/sentence.ts";
import { TimelineBook } from "../../../../src/modules/alerts/timeline-book.ts";
import { MemoryStore } from "../../../support/memory-store.ts";
import { STORED_DECISION } from "../../../support/packed-rows.ts";
import { PagingRig } from "../../../support/paging-rig.ts";

const ID = "ab".repeat(16);
const line = (atMs: number): TimelineLine => ({ atMs, kind: "updated", by: null, text: `line ${atMs}` });

/** A store that counts what is read of timelines. */
class CountedStore extends MemoryStore {
  reads = 0;
  override range(...of: Parameters<MemoryStore["range"]>) {
    this.reads++;
    return super.range(...of);
  }
}

function makeBook() {
  const store = new CountedStore({ tables: CONTROL_TABLES });
  return { store, book: new TimelineBook(store) };
}

it("the lines of an alert are counted once, and of a new one never", async () => {
  const { store, book } = makeBook();
  await store.commit(book.operations("t", ID, [line(1)], true));
  for (let atMs = 2; atMs < 20; atMs++) await store.commit(book.operations("t", ID, [line(atMs)]));
  expect(store.reads).toBe(0);
  const later = new TimelineBook(store);
  for (let atMs = 20; atMs < 40; atMs++) await store.commit(later.operations("t", ID, [line(atMs)]));
  expect(store.reads).toBe(1);
  expect(later.read("t", ID).map(({ atMs }) => atMs)).toEqual(Array.from({ length: 39 }, (_, i) => i + 1));
});

it("where there are too many those in the middle go, whatever failed or came twice before", async () => {
  const { store, book } = makeBook();
  const count = TIMELINE_LINES_MAX + 5;
  for (let atMs = 1; atMs <= count; atMs++) {
    book.operations("t", ID, [line(atMs)], atMs === 1); // a commit that failed
    await store.commit(book.operations("t", ID, [line(atMs)], atMs === 1));
  }
  const all = Array.from({ length: count }, (_, i) => i + 1);
  const dropped = all.slice(TIMELINE_LINES_FIRST, TIMELINE_LINES_FIRST + 5);
  expect(book.read("t", ID).map(({ atMs }) => atMs)).toEqual(all.filter((atMs) => !dropped.includes(atMs)));
  expect(store.reads).toBeLessThan(TIMELINE_LINES_MAX / 2);
});

it("a line that has the facts of a sentence stands where the same line stood with its words, in half of the bytes", async () => {
  const { explanation, z } = STORED_DECISION.decision;
  const facts = { ...(explanation as SentenceFacts), behind: "" };
  const rig = new PagingRig();
  rig.fire({ explanation: facts, z });
  const [alert] = [...rig.memory.changed] as [Alert];
  const rows = linesOf(undefined, alert).map((one) => {
    const withWords = { atMs: one.atMs, kind: one.kind, by: one.by, text: lineText(one) };
    return [one, withWords].map((each) => makeBook().book.operations("t", ID, [each], true)[0]!);
  });
  const { store, book } = makeBook();
  for (const [ofFacts, ofWords] of rows) {
    expect(ofFacts!.key).toEqual(ofWords!.key);
    await store.commit([ofFacts!]);
  }
  const [ofFacts, ofWords] = rows[0]!;
  expect(ofFacts!.value!.length).toBeLessThan(ofWords!.value!.length * 0.55);
  const read = book.read("t", ID);
  expect(read.map(({ position: _, ...one }) => one)).toEqual(linesOf(undefined, alert));
  expect(lineText(read[0]!)).toBe(`${alert.state.tier}: ${sentenceText(facts)}`);
});
