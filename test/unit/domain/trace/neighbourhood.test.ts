import { describe, expect, it } from "vitest";
import { type NeighbourEdge, neighbourhood } from "../../../../src/domain/trace/neighbourhood.ts";

/** web calls shop, shop calls cart and pay, pay calls bank, bank calls vault; mail is by itself with post. */
const EDGES: readonly NeighbourEdge[] = [
  { from: "web", to: "shop", calls: 100 },
  { from: "shop", to: "cart", calls: 60 },
  { from: "shop", to: "pay", calls: 30 },
  { from: "pay", to: "bank", calls: 20 },
  { from: "bank", to: "vault", calls: 10 },
  { from: "mail", to: "post", calls: 5 },
];
const around = (service: string | undefined, depth: number, most = 100, open: Record<string, number> = {}) =>
  neighbourhood(EDGES, {
    roots: service === undefined ? undefined : (key) => key === service,
    depth,
    most,
    rankOf: (key) => open[key] ?? 0,
  });
const shown = (found: ReturnType<typeof around>) => found.nodes.map(({ key, depth }) => `${key} ${depth}`);

describe("the services around one", () => {
  it("are those within so many calls, callers and callees alike, the nearest first, then those with most calls", () => {
    expect(shown(around("pay", 1))).toEqual(["pay 0", "shop 1", "bank 1"]);
    expect(shown(around("pay", 2))).toEqual(["pay 0", "shop 1", "bank 1", "web 2", "cart 2", "vault 2"]);
    expect(around("pay", 2).nodes[1]).toEqual({ key: "shop", depth: 1, calls: 190 });
  });

  it("beyond the cap are counted and left out, of one distance those with something open last", () => {
    const found = around("pay", 2, 4, { vault: 3 });
    expect(shown(found)).toEqual(["pay 0", "shop 1", "bank 1", "vault 2"]);
    expect(found.total).toBe(6);
  });

  it("are all where none is named, and none where nobody calls it", () => {
    expect(shown(around(undefined, 1)).sort()).toEqual(["bank 0", "cart 0", "mail 0", "pay 0", "post 0", "shop 0", "vault 0", "web 0"]);
    expect(around("alone", 3)).toEqual({ nodes: [], total: 0 });
  });
});
