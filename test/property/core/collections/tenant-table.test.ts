/** A table of tenants' rows is what a map of maps would be: whatever is put and removed, found, counted and listed alike. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { TenantTable } from "../../../../src/core/collections/tenant-table.ts";

interface Row {
  readonly tenant: string;
  readonly id: string;
  readonly value: number;
}

const rowArb = fc.record({ tenant: fc.constantFrom("a", "b", "__proto__"), id: fc.constantFrom("1", "2", "constructor"), value: fc.nat() });

function check(table: TenantTable<Row>, rows: readonly Row[]): void {
  expect(table.size).toBe(rows.length);
  expect(new Set(table.tenants)).toEqual(new Set(rows.map(({ tenant }) => tenant)));
  expect(new Set(table.all())).toEqual(new Set(rows));
  for (const tenant of ["a", "b", "__proto__", "none"]) {
    const own = rows.filter((row) => row.tenant === tenant);
    expect(table.of(tenant)).toEqual(own);
    expect(table.sizeOf(tenant)).toBe(own.length);
    expect(table.has(tenant)).toBe(own.length > 0);
  }
}

it("holds the last row of each key in the order in which keys came", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ row: rowArb, removes: fc.boolean() }), { maxLength: 30 }), (steps) => {
      const table = new TenantTable<Row>(({ id }) => id);
      let rows: Row[] = [];
      for (const { row, removes } of steps) {
        const index = rows.findIndex(({ tenant, id }) => tenant === row.tenant && id === row.id);
        expect(table.find(row.tenant, row.id)).toBe(rows[index]);
        expect(removes ? table.remove(row.tenant, row.id) : table.put(row)).toBe(rows[index]);
        if (removes) rows = rows.filter((_, at) => at !== index);
        else if (index < 0) rows.push(row);
        else rows[index] = row;
        check(table, rows);
      }
    }),
  );
});
