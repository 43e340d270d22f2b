// Senders of remote-write 1.0 that say one type of a name, or two, in any order, over starts and on several engines: who says one has it, whatever others say.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { METADATA_TYPE_HOLD_MS } from "../../../../src/core/config/metric-limits.ts";
import { FLAG_COUNTER, FLAG_GUESSED } from "../../../../src/core/layout/stream-record.ts";
import { MetadataBook } from "../../../../src/domain/series/metadata-book.ts";
import type { MetricMetadata, MetricType } from "../../../../src/domain/series/metric-metadata.ts";

const TENANT = "default";
const NAMES = ["x", "x_total"] as const;
const MINUTE_MS = 60_000;

/** Types that a sender says of one name, in its order. */
const says = fc.constantFrom<readonly MetricType[]>(["counter"], ["gauge"], ["stateset"], ["counter", "gauge"], ["gauge", "counter"], []);
const sender = fc.record({ name: fc.constantFrom(...NAMES), types: says });
type Sender = Readonly<{ name: string; types: readonly MetricType[] }>;

/** All rows that were ever stored, by their key. */
class Store {
  readonly rows = new Map<string, MetricMetadata>();

  put(row: MetricMetadata | undefined): void {
    if (row !== undefined) this.rows.set(`${row.metricName} ${row.sender ?? ""}`, row);
  }
}

function kindOf(book: MetadataBook, name: string, number: number): "counter" | "gauge" | "guessed" {
  const flags = book.flagsOf(TENANT, name, "unknown", number);
  if ((flags & FLAG_GUESSED) !== 0) return "guessed";
  return (flags & FLAG_COUNTER) !== 0 ? "counter" : "gauge";
}

/** What the series of a sender are by its own words; undefined where it says nothing. */
function rightKind({ types: [first, second] }: Sender): string | undefined {
  if (second !== undefined) return "guessed";
  return first === undefined ? undefined : first === "counter" ? "counter" : "gauge";
}

describe("types that senders give one name", () => {
  it("are each sender's own, and of one that says two none is told", () => {
    const order = fc.array(fc.nat({ max: 1000 }), { minLength: 16, maxLength: 16 });
    const rounds = fc.array(fc.record({ order, restarts: fc.boolean(), engine: fc.nat({ max: 1 }) }), { minLength: 3, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(sender, { minLength: 1, maxLength: 8 }), rounds, (senders, turns) => {
        const store = new Store();
        let books = [new MetadataBook(), new MetadataBook()];
        for (const [minute, { order: keys, restarts, engine }] of turns.entries()) {
          if (restarts) {
            books = [new MetadataBook(), new MetadataBook()];
            for (const book of books) book.take(store.rows.values());
          }
          const words = senders.flatMap(({ name, types }, i) =>
            types.map((type, j) => ({ name, type, number: i + 1, key: keys[2 * i + j] ?? 0 })),
          );
          const ordered = words.map((word, i) => ({ ...word, i })).sort((a, b) => a.key - b.key || a.i - b.i);
          for (const { name: metricName, type, number } of ordered) {
            const book = books[engine] as MetadataBook;
            const row = { tenant: TENANT, metricName, type, unit: "", help: "", sender: number };
            if (book.learn(row, minute * MINUTE_MS) !== "new") continue;
            const stored = book.find(TENANT, metricName, number) as MetricMetadata;
            store.put(stored);
            for (const other of books) other.take([stored]);
          }
        }
        for (const book of books) {
          for (const [i, one] of senders.entries()) {
            const right = rightKind(one);
            if (right !== undefined) expect(kindOf(book, one.name, i + 1)).toBe(right);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it("follow a sender that changes its mind for good", () => {
    const book = new MetadataBook();
    const tell = (type: MetricType, number: number, nowMs: number) =>
      book.learn({ tenant: TENANT, metricName: "x", type, unit: "", help: "", sender: number }, nowMs);
    tell("counter", 1, 0);
    tell("gauge", 2, 0);
    for (let at = MINUTE_MS; at <= METADATA_TYPE_HOLD_MS; at += MINUTE_MS) tell("gauge", 1, at);
    expect(kindOf(book, "x", 1)).toBe("guessed");
    tell("gauge", 1, METADATA_TYPE_HOLD_MS + MINUTE_MS);
    expect([kindOf(book, "x", 1), kindOf(book, "x", 2)]).toEqual(["gauge", "gauge"]);
  });
});
