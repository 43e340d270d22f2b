// Lines of a timeline are added without reading those that are there, until there may be too many of them.
import { expect, it } from "vitest";
import { CONTROL_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { TIMELINE_LINES_FIRST, TIMELINE_LINES_MAX } from "../../../../src/core/config/alert-limits.ts";
import type { TimelineLine } from "../../../../src/domain/alerting/timeline.ts";
import { TimelineBook } from "../../../../src/modules/alerts/timeline-book.ts";
import { MemoryStore } from "../../../support/memory-store.ts";

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
