/** The pages of a list, one behind the other, are the list, whatever the limit of each and also where rows come and go meanwhile. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { pageOf } from "../../../src/api/page-token.ts";

interface Row {
  readonly atMs: number;
  readonly id: string;
}

const secret = new Uint8Array(32).fill(7);
const scope = { tenant: "default", endpoint: "rows", filters: {} };
const positionOf = ({ atMs, id }: Row) => [atMs, id];
const rowsArb = fc.uniqueArray(fc.record({ atMs: fc.nat(3), id: fc.string({ maxLength: 2 }) }), {
  selector: (row) => JSON.stringify(row),
  maxLength: 12,
});

function sorted(rows: readonly Row[], newestFirst: boolean): Row[] {
  return rows.toSorted((a, b) => (newestFirst ? b.atMs - a.atMs : a.atMs - b.atMs) || (a.id < b.id ? -1 : 1));
}

it("gives each row once, in order", () => {
  fc.assert(
    fc.property(
      rowsArb,
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 12, maxLength: 12 }),
      (given, newestFirst, limits) => {
        let rows = sorted(given, newestFirst);
        const expected = [...rows];
        const seen: Row[] = [];
        let token = "";
        for (const limit of limits) {
          const paged = pageOf({ secret, scope, limit, token }, rows, { newestFirst, positionOf });
          if (!paged.ok) throw new Error("a token of this list was refused");
          seen.push(...paged.value.page);
          token = paged.value.page_token;
          if (token === "") break;
          // What was shown may be deleted meanwhile: the next page begins where it would have.
          rows = rows.filter((row) => row !== paged.value.page.at(-1));
        }
        expect(token).toBe("");
        expect(seen).toEqual(expected);
      },
    ),
  );
});

it("refuses the token of another list", () => {
  const rows = sorted(
    [
      { atMs: 1, id: "a" },
      { atMs: 2, id: "b" },
    ],
    false,
  );
  const paged = pageOf({ secret, scope, limit: 1, token: "" }, rows, { positionOf });
  const token = paged.ok ? paged.value.page_token : "";
  expect(pageOf({ secret, scope: { ...scope, tenant: "other" }, limit: 1, token }, rows, { positionOf }).ok).toBe(false);
});
