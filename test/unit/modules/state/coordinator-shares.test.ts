// One tenant fills each limit that tenants share in the coordinator or the front; what another asks for after it is there, and each is told of its own.
import { describe, expect, it } from "vitest";
import { EventStreams } from "../../../../src/actors/front/event-streams.ts";
import { QueryLink } from "../../../../src/actors/front/query-link.ts";
import { FRONT_LIMITS } from "../../../../src/core/config/shared-limits.ts";
import { COORDINATOR_SHARED_LIMITS, type CoordinatorSharedLimit } from "../../../../src/core/layout/counters.ts";
import { TenantShares } from "../../../../src/domain/access/tenant-shares.ts";
import { countPlaces, makeCoordinatorShares } from "../../../../src/modules/state/coordinator-shares.ts";
import { Rig, START_MS } from "../../../support/coordinator-rig.ts";

/** Places of a limit, and the share: half. */
const PLACES = 20;
const SHARE = PLACES / 2;
const iso = (ms: number) => new Date(ms).toISOString();
const matcher = { name: "service_id", operator: "=", value: "api" };

/** A server with the tenants default, evil and acme. */
async function serving(limit: CoordinatorSharedLimit): Promise<Rig> {
  const rig = await Rig.open({ sharedLimits: { [limit]: PLACES } });
  for (const name of ["evil", "acme"]) {
    const principal = { tenant: "default", subject: "test", role: "super_admin" } as const;
    const { status } = await rig.askAs(principal, "createTenant", {
      content: { tenant_id: name, name, plan: "pro" },
    });
    expect(status).toBe(201);
  }
  return rig;
}

type Fill = (rig: Rig, tenant: string, i: number) => Promise<{ readonly status: number }>;

const FILLS: ReadonlyArray<readonly [limit: CoordinatorSharedLimit, fill: Fill]> = [
  [
    "silences",
    (rig, tenant, i) =>
      rig.ask("createSilence", {}, {}, tenant, { matchers: [matcher], comment: `${i}`, ends_at: iso(START_MS + 3_600_000) }),
  ],
  ["inhibitions", (rig, tenant) => rig.ask("createInhibition", {}, {}, tenant, { source_matchers: [matcher], target_matchers: [matcher] })],
  ["labels", (rig, tenant, i) => rig.ask("setLabel", {}, {}, tenant, { service_id: `service-${i}`, key: "team", value: "a" })],
  [
    "saturation_limits",
    (rig, tenant, i) => rig.ask("declareLimit", {}, {}, tenant, { service_id: "db", metric: `m${i}`, limit_value: 5, unit: "By" }),
  ],
  ["watchdog_places", (rig, tenant, i) => rig.ask("setWatchdogSettings", {}, {}, tenant, { service_id: `service-${i}`, z_threshold: 4 })],
  [
    "mapped_services",
    (rig, tenant, i) => rig.ask("setServiceMap", {}, {}, tenant, { entries: [{ service_id: `service-${i}`, tenant_id: "x" }] }),
  ],
];

describe("limits that tenants share in the coordinator", () => {
  it.each(FILLS)("keep a place of %s for a tenant that comes after one that fills it, and tell who was refused", async (limit, fill) => {
    const rig = await serving(limit);
    const statuses: number[] = [];
    for (let i = 0; i < PLACES + 5; i++) statuses.push((await fill(rig, "evil", i)).status);
    expect(statuses.filter((status) => status < 300)).toHaveLength(SHARE);
    expect(statuses.at(-1)).toBe(422);
    for (let i = 0; i < SHARE; i++) expect((await fill(rig, "acme", i)).status).toBeLessThan(300);

    const { body } = await rig.askAs({ tenant: "default", subject: "test", role: "super_admin" }, "status");
    expect(body.shared_limits).toEqual([{ tenant_id: "evil", limit, held: SHARE, refused_total: PLACES + 5 - SHARE }]);
    expect((await rig.ask("status", {}, {}, "acme")).body.shared_limits).toBeNull();

    const again = await rig.restarted({ sharedLimits: { [limit]: PLACES } });
    expect((await fill(again, "evil", 99)).status).toBe(422);
  });

  it("have all their places for a tenant that is alone", async () => {
    const rig = await Rig.open({ sharedLimits: { silences: PLACES } });
    const fill = FILLS[0]?.[1] as Fill;
    for (let i = 0; i < PLACES; i++) expect((await fill(rig, "default", i)).status).toBe(201);
    expect((await fill(rig, "default", PLACES)).status).toBe(422);
  });
});

describe("limits that tenants share in the front", () => {
  const shares = () => new TenantShares({ ...FRONT_LIMITS, event_streams: PLACES, queries_waiting: PLACES }, { tenants: () => 3 });

  it("keep an event stream for a tenant that comes after one that opens all", () => {
    const all = shares();
    const streams = new EventStreams({ wallMs: () => 0, monotonicMs: () => 0 }, all.ledger("event_streams"));
    const closing: Array<() => void> = [];
    const open = (tenant: string) => {
      if (!streams.admits(tenant)) return false;
      const stream = {
        bufferedBytes: 0,
        write: () => undefined,
        end: () => undefined,
        onClose: (closed: () => void) => void closing.push(closed),
      };
      streams.add(tenant, stream as never, { isGood: () => true } as never);
      return true;
    };
    expect(Array.from({ length: PLACES }, () => open("evil")).filter(Boolean)).toHaveLength(SHARE);
    expect(open("acme")).toBe(true);
    closing[0]?.();
    closing[0]?.();
    expect([streams.count, open("evil"), open("evil")]).toEqual([SHARE, true, false]);
    expect([all.refusedTotal("event_streams"), all.refusedTotal("queries_waiting")]).toEqual([PLACES - SHARE + 1, 0]);
  });

  it("keep a query for a tenant that comes after one that has many waiting, and tell the coordinator in questions about them", () => {
    const sent: Array<{ id: number; shares?: unknown }> = [];
    const link = new QueryLink((command) => void sent.push(command as never), shares());
    const call = (tenant: string, endpoint = "series") =>
      link.call(
        { endpoint, principal: { tenant, subject: "x", role: "viewer" }, path: {}, query: {}, body: null, requestId: "1" },
        () => undefined,
      );
    expect(Array.from({ length: PLACES }, () => call("evil")).filter(Boolean)).toHaveLength(SHARE);
    expect(call("acme", "coverage")).toBe(true);
    expect(sent.at(-1)?.shares).toContainEqual({
      limit: "queries_waiting",
      tenant: "acme",
      used: 1,
      share: SHARE,
      most: PLACES,
      refused: 0,
    });
    link.answer({ type: "answer", id: sent[0]?.id ?? 0, status: 200, body: "{}" });
    expect([call("evil"), call("evil")]).toEqual([true, false]);
    for (const { id } of sent) link.answer({ type: "answer", id, status: 200, body: "{}" });
  });
});

it("places in use are counted, whatever their tenants", () => {
  const shares = makeCoordinatorShares({}, () => 2);
  shares.ledger("outbound_calls").add("acme", 3);
  shares.ledger("outbound_calls").add("bolt", 4);
  const counted = new Map<string, number>();
  countPlaces(shares, { placesTaken: (limit, taken) => void counted.set(limit, taken) });
  expect([counted.get("outbound_calls"), counted.get("silences")]).toEqual([7, 0]);
  expect([...counted.keys()]).toEqual([...COORDINATOR_SHARED_LIMITS]);
});
