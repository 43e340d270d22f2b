import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CONTROL_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { LABEL_SOURCES } from "../../../../src/domain/labels/service-label.ts";
import { LabelBook, labelBytes, type ServiceLabel } from "../../../../src/modules/labels/label-book.ts";
import { LabelDraft } from "../../../../src/modules/labels/label-draft.ts";
import { MemoryStore } from "../../../support/memory-store.ts";

const names = fc.constantFrom("a", "b", "é", "__proto__", "constructor", "a/b", "\u{1F980}");
const place = fc.record({
  tenant: names,
  serviceId: names,
  key: fc.constantFrom("team", "owner", "__proto__"),
  source: fc.constantFrom(...LABEL_SOURCES),
});
const edit = fc.record({ place, value: fc.option(fc.constantFrom("x", "y", "longer", "é")) });
/** Drafts one after another, each of several edits; some are not committed. */
const drafts = fc.array(fc.record({ edits: fc.array(edit, { maxLength: 6 }), isCommitted: fc.boolean() }), { maxLength: 12 });

const isAt = (a: Omit<ServiceLabel, "value" | "updatedMs">, b: ServiceLabel) =>
  a.tenant === b.tenant && a.serviceId === b.serviceId && a.key === b.key && a.source === b.source;

describe("labels of services", () => {
  it("are those of a list in which the last source wins, in memory, in counts and in the store", async () => {
    await fc.assert(
      fc.asyncProperty(drafts, names, names, fc.constantFrom("team", "owner"), async (steps, tenant, serviceId, key) => {
        const store = new MemoryStore({ tables: CONTROL_TABLES });
        const book = new LabelBook();
        let twin: ServiceLabel[] = [];
        for (const { edits, isCommitted } of steps) {
          const draft = new LabelDraft(book);
          let after = twin;
          for (const { place: at, value } of edits) {
            const before = after.find((label) => isAt(at, label));
            if (value === null) draft.remove(at);
            else expect(draft.set({ ...at, value, updatedMs: 1 })).toBe(before?.value === value ? "unchanged" : "set");
            after = after.filter((label) => !isAt(at, label));
            if (value !== null) after = [...after, { ...at, value, updatedMs: 1 }];
            expect(draft.find(at)?.value).toBe(value ?? undefined);
          }
          if (!isCommitted) continue;
          await store.commit(draft.operations());
          draft.apply();
          twin = after;
        }
        const loaded = new LabelBook();
        loaded.load(store);
        const expected = twin
          .filter((label) => label.tenant === tenant && label.serviceId === serviceId && label.key === key)
          .sort((a, b) => LABEL_SOURCES.indexOf(a.source) - LABEL_SOURCES.indexOf(b.source))
          .at(-1);
        for (const each of [book, loaded]) {
          expect(each.inForce(tenant, serviceId, key)).toEqual(expected);
          expect(each.size).toBe(twin.length);
          expect(each.sizeOf(tenant)).toBe(twin.filter((label) => label.tenant === tenant).length);
          expect(each.shares.bytes.taken).toBe(twin.reduce((sum, label) => sum + labelBytes(label), 0));
          expect(each.of(tenant, serviceId)).toHaveLength(
            twin.filter((label) => label.tenant === tenant && label.serviceId === serviceId).length,
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});
