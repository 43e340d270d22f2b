import { describe, expect, it } from "vitest";
import { CONTROL_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { refused } from "../../../../src/api/refusal.ts";
import type { CoordinatorMessage, Principal } from "../../../../src/core/protocol/query.ts";
import { AUDIT_ENTRY } from "../../../../src/modules/access/audit-log.ts";
import { Changes } from "../../../../src/modules/access/changes.ts";
import { RowCounts } from "../../../../src/modules/state/row-counts.ts";
import { TABLE_END, TABLE_START } from "../../../../src/modules/state/tables.ts";
import { MemoryStore } from "../../../support/memory-store.ts";

const ADMIN: Principal = { tenant: "acme", subject: "ann", role: "admin" };
const ORIGIN = { principal: ADMIN, requestId: "request-1", address: "127.0.0.1" };
const KEY = new Uint8Array([1]);
const VALUE = new Uint8Array([2]);

function rig() {
  const store = new MemoryStore({ tables: CONTROL_TABLES });
  const events: string[] = [];
  const emit = ({ type }: CoordinatorMessage) => void events.push(type);
  const world = { nowMs: () => 1_000, monotonicMs: () => 0, yieldToLoop: async () => {} };
  const changes = new Changes({ ...world, store, audit: new RowCounts("audit_counts"), emit, edit: (work) => work() });
  const make = (applied: () => void = () => undefined) =>
    changes.make(ORIGIN, () => ({
      ok: true,
      note: { action: "thing.set", object: "a", before: null, after: { value: 1 } },
      operations: [{ table: "counters", key: KEY, value: VALUE }],
      apply: () => {
        events.push("apply");
        applied();
      },
      accessChanges: [{ type: "tenant-gone", tenant: "old" }],
      outcome: { ok: true, value: "made" },
    }));
  const audited = () => store.range("audit", { from: TABLE_START, to: TABLE_END }).map(({ value }) => AUDIT_ENTRY.decode(value));
  return { store, events, changes, make, audited };
}

describe("changes of the configuration", () => {
  it("are stored with who made them, applied and told to the front, before they are answered", async () => {
    const { store, events, make, audited } = rig();
    const outcome = await make(() => expect(store.get("counters", KEY)).toEqual(VALUE));
    expect(outcome).toEqual({ ok: true, value: "made" });
    expect(events).toEqual(["apply", "access"]);
    expect(audited()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        atMs: 1_000,
        tenant: "acme",
        actor: "ann",
        role: "admin",
        requestId: "request-1",
        address: "127.0.0.1",
        action: "thing.set",
        object: "a",
        before: null,
        after: { value: 1 },
      },
    ]);
  });

  it("of one millisecond have a row each", async () => {
    const { make, audited } = rig();
    await make();
    await make();
    expect(audited()).toHaveLength(2);
  });

  it("that are refused or change nothing leave no row", async () => {
    const { changes, events, audited } = rig();
    expect(await changes.make(ORIGIN, () => refused("conflict", "it is there already"))).toMatchObject({ ok: false });
    expect(await changes.make(ORIGIN, () => ({ ok: "unchanged", outcome: { ok: true, value: 1 } }))).toEqual({ ok: true, value: 1 });
    expect([events, audited()]).toEqual([[], []]);
  });

  it("that the store does not take change nothing", async () => {
    const { store, events, make, audited } = rig();
    store.failNext("ENOSPC");
    await expect(make()).rejects.toThrow("ENOSPC");
    expect([events, audited()]).toEqual([[], []]);
  });
});
