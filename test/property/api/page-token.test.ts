/** The pages of a list, one behind the other, are the list, whatever the limit of each and also where rows come and go meanwhile. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { listed } from "../../../src/api/page-token.ts";

interface Row {
  readonly atMs: number;
  readonly id: string;
}

const secret = new Uint8Array(32).fill(7);
/** Asks for a page of rows; undefined where the token is refused. */
function asked(tenant: string, token: string, limit: number, rows: readonly Row[], newestFirst: boolean) {
  const request = { principal: { tenant }, query: { limit, page_token: token } };
  const list = { endpoint: "rows", newestFirst, positionOf: ({ atMs, id }: Row) => [atMs, id] };
  const outcome = listed({ pageSecret: secret }, request, list, rows, (page) => ({ page }));
  return outcome.ok ? (outcome.value as { readonly page: readonly Row[]; readonly page_token: string }) : undefined;
}

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
          const paged = asked("default", token, limit, rows, newestFirst);
          if (paged === undefined) throw new Error("a token of this list was refused");
          seen.push(...paged.page);
          token = paged.page_token;
          if (token === "") break;
          // What was shown may be deleted meanwhile: the next page begins where it would have.
          rows = rows.filter((row) => row !== paged.page.at(-1));
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
  const token = asked("default", "", 1, rows, false)?.page_token ?? "";
  expect(asked("other", token, 1, rows, false)).toBeUndefined();
});
