// A start leaves out the rows that it throws over and no others; where it cannot succeed all rows are where they were.
import { describe, expect, it } from "vitest";
import { startWithoutRows } from "../../../../../src/actors/coordinator/loop/start-without-rows.ts";
import { RowTrace, TracedStore } from "../../../../../src/adapters/storage/traced-store.ts";
import { DamagedValueError } from "../../../../../src/adapters/storage/value-seal.ts";
import { ROWS_SET_ASIDE_PER_START_MAX } from "../../../../../src/core/config/set-aside-limits.ts";
import { scan } from "../../../../../src/modules/state/scan.ts";
import { UnknownRowError } from "../../../../../src/modules/state/stored-json.ts";
import { MemoryStore } from "../../../../support/memory-store.ts";

const ROWS = 100;
const TABLES = ["things", "checkpoints"];
const key = (row: number) => Uint8Array.of(1, row);

/** A start over rows of which those in `bad` throw as they are read, and those in `badLater` once all have been read. */
async function startOver(
  bad: readonly number[],
  {
    badLater = [],
    table = "things",
    hasCapacity = true,
    error = (row: number): Error => new RangeError(`row ${row}`),
  }: {
    readonly badLater?: readonly number[];
    readonly table?: string;
    readonly hasCapacity?: boolean;
    readonly error?: (row: number) => Error;
  } = {},
) {
  const trace = new RowTrace();
  const plain = new MemoryStore({ tables: TABLES });
  await plain.commit(Array.from({ length: ROWS }, (_, row) => ({ table, key: key(row), value: Uint8Array.of(row) })));
  const store = new TracedStore(plain, trace);
  const kept: string[] = [];
  const start = async () => {
    const rows: number[] = [];
    for (const { value } of scan(store, table)) {
      const row = value[0] as number;
      if (bad.includes(row)) throw error(row);
      rows.push(row);
    }
    if (rows.some((row) => badLater.includes(row))) throw new RangeError("a book of them");
    return rows;
  };
  const keep = ({ name }: { readonly name: string }) => hasCapacity && kept.push(name) > 0;
  const ended = await startWithoutRows(start, { trace, keep }).catch((failure: Error) => failure);
  return { ended, kept, left: Array.from(scan(plain, table), ({ value }) => value[0]) };
}

const all = Array.from({ length: ROWS }, (_, row) => row);
const without = (...rows: number[]) => all.filter((row) => !rows.includes(row));

describe("a start over rows that cannot be read", () => {
  it.each([[[]], [[0]], [[7, 8, 99]]])("leaves out %j and says each", async (bad) => {
    const { ended, left } = await startOver(bad);
    expect(ended).toMatchObject({
      started: without(...bad),
      leftOut: bad.map((row) => ({ bytes: Uint8Array.of(row), reason: `row ${row}` })),
    });
    expect(left).toEqual(without(...bad));
  });

  it("puts back rows that it took for the cause of what came later", async () => {
    const { ended, left } = await startOver([], { badLater: [97] });
    expect(ended).toMatchObject({ started: without(97), leftOut: [{ bytes: Uint8Array.of(97) }] });
    expect(left).toEqual(without(97));
  });

  it("ends as it would have, with every row where it was, where there are too many", async () => {
    const { ended, left } = await startOver(all.slice(0, ROWS_SET_ASIDE_PER_START_MAX + 1));
    expect(ended).toMatchObject({ message: `row ${ROWS_SET_ASIDE_PER_START_MAX}` });
    expect(left).toEqual(all);
  });

  it("ends where there is no room for a row's bytes, and leaves it where it is", async () => {
    const { ended, left } = await startOver([3], { hasCapacity: false });
    expect(ended).toMatchObject({ message: "row 3" });
    expect(left).toEqual(all);
  });

  it.each([
    ["damage", { error: () => new DamagedValueError("store", "things", key(3), "its checksum is wrong") }],
    ["a row of another version", { error: () => new UnknownRowError("things", "its version is 2", true) }],
    ["a row that says what is stored elsewhere", { table: "checkpoints" }],
  ])("ends with %s, and leaves it where it is", async (_, options) => {
    const { ended, kept, left } = await startOver([3], options);
    expect(ended).toBeInstanceOf(Error);
    expect([kept, left]).toEqual([[], all]);
  });
});
