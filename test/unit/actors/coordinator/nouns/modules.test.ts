// The fold of the nouns: no two of them claim the same endpoint, table, Book or gauge, since the later would silently take the earlier's place.
import { describe, expect, it } from "vitest";
import { CONTROL_TABLES, HANDLERS, MODULES, SERIES_TABLES } from "../../../../../src/actors/coordinator/nouns/modules.ts";
import { makeCoordinatorShares } from "../../../../../src/modules/state/coordinator-shares.ts";
import type { NounModule } from "../../../../../src/modules/state/noun-module.ts";

const modules: readonly NounModule[] = MODULES;

describe("the nouns of the coordinator", () => {
  it("answer each endpoint once", () => {
    const named = modules.flatMap(({ handlers = {} }) => Object.keys(handlers));
    expect(named.toSorted()).toEqual(Object.keys(HANDLERS).toSorted());
  });

  it("own each table once", () => {
    const tables = [...CONTROL_TABLES, ...SERIES_TABLES];
    expect(tables.length).toBeGreaterThan(50);
    expect(tables.filter((table, at) => tables.indexOf(table) !== at)).toEqual([]);
  });

  it("make each Book of configured things once", () => {
    const shares = makeCoordinatorShares({}, () => 1);
    const settings = { settings: {}, samplesMin: 12 };
    const sources = { share: shares.ledger.bind(shares), patterns: undefined, watchdog: settings, routing: undefined } as never;
    const made = modules.flatMap(({ configured }) => Object.keys(configured?.(sources) ?? {}));
    expect(made.filter((name, at) => made.indexOf(name) !== at)).toEqual([]);
    expect(made.length).toBeGreaterThan(10);
  });
});
