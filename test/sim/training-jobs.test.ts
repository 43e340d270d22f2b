// Training jobs over a whole server on a virtual clock: how many may wait, for whom, in which order they run, who sees them, and what a kill makes of them.
import { describe, expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { SimulatedServer, type SimulatedServerOptions, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const TENANTS = Array.from({ length: 11 }, (_, n) => `tenant-${String.fromCharCode(97 + n)}`);
const [FIRST, SECOND] = TENANTS as [string, string];
const PER_TENANT = 10;

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly samples_found: number | null;
}

/** A server whose trainings wait behind a gate, and the gate; each tenant has a service of two metrics that the Watchdog looks at. */
async function filled() {
  let open: () => void = () => undefined;
  const trainingGate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const machine = { clock: new VirtualClock(START), disk: new MemoryDisk(), control: new Map(), series: new Map() };
  const options: SimulatedServerOptions = {
    ...SMALL_SIZES,
    engines: 1,
    epoch: 1,
    seed: 1,
    watchdogIntervalMs: MINUTE_MS,
    servicesMax: 100,
  };
  const server = new SimulatedServer({ ...options, tenants: TENANTS, trainingGate }, machine);
  await server.open();
  const records = ["load", "queue"].map((metric_name) => ({ service_id: "shop", metric_name, value: 1, timestamp: new Date(START) }));
  TENANTS.forEach((_, n) => void server.submit(0, BODY_JSON_BATCH, Buffer.from(JSON.stringify(records)), "", () => undefined, n));
  await rest(server);
  machine.clock.advance(MINUTE_MS);
  await rest(server);
  return { server, machine, options, open };
}

async function rest(server: SimulatedServer): Promise<void> {
  for (let quiet = 0; quiet < 6; quiet++) {
    await server.rest();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function train(server: SimulatedServer, tenant: string): Promise<string> {
  const body = { service_id: "shop", training_window_days: 1, model_type: "isolation_forest" };
  return ((await server.query("trainModel", {}, tenant, body)) as { job_id: string }).job_id;
}

async function jobOf(server: SimulatedServer, tenant: string, id: string): Promise<Job> {
  return (await server.query("training", {}, tenant, null, { id })) as Job;
}

describe("training jobs", () => {
  it("wait behind the one that runs, ten of a tenant and a hundred in all, each tenant's own, and run in turns", async () => {
    const { server, open } = await filled();
    const ids = new Map<string, string[]>();
    for (const tenant of TENANTS) {
      const own: string[] = [];
      ids.set(tenant, own);
      for (let n = 0; n < (tenant === TENANTS.at(-1) ? 1 : PER_TENANT); n++) own.push(await train(server, tenant));
      await rest(server);
    }
    await expect(train(server, FIRST)).rejects.toThrow(/503.*overloaded.*10 trainings of this tenant wait or run, of 101 in all/);
    await expect(train(server, TENANTS.at(-1) as string)).rejects.toThrow(/503.*1 trainings of this tenant/);
    expect([server.counter("jobsRunning"), server.counter("jobsWaiting")]).toEqual([1, 100]);
    const [running, waiting, cancelled] = ids.get(FIRST) as [string, string, string];
    expect([await jobOf(server, FIRST, running), await jobOf(server, FIRST, waiting)]).toMatchObject([
      { status: "running" },
      { status: "queued" },
    ]);

    const pages: string[] = [];
    for (let page_token = ""; pages.length === 0 || page_token !== ""; ) {
      const given = page_token === "" ? {} : { page_token };
      const page = (await server.query("trainings", { limit: "4", ...given }, FIRST)) as { jobs: Job[]; total: number; page_token: string };
      expect(page.total).toBe(PER_TENANT);
      pages.push(...page.jobs.map(({ job_id }) => job_id));
      page_token = page.page_token;
    }
    expect(pages.sort()).toEqual([...(ids.get(FIRST) as string[])].sort());

    await expect(jobOf(server, SECOND, waiting)).rejects.toThrow("404");
    await expect(server.query("cancelTraining", {}, SECOND, null, { id: waiting })).rejects.toThrow("404");
    await server.query("cancelTraining", {}, FIRST, null, { id: cancelled });
    await expect(server.query("cancelTraining", {}, FIRST, null, { id: cancelled })).rejects.toThrow("409");
    expect(await jobOf(server, FIRST, await train(server, FIRST))).toMatchObject({ status: "queued" });

    open();
    for (let rests = 0; rests < 101 && server.counter("jobsWaiting") + server.counter("jobsRunning") > 0; rests++) await rest(server);
    expect([server.counter("jobsRunning"), server.counter("jobsWaiting")]).toEqual([0, 0]);
    expect([server.counter("jobsFailed"), server.counter("jobsCancelled")]).toEqual([101, 1]);
    expect(await jobOf(server, FIRST, running)).toMatchObject({ status: "failed", samples_found: expect.any(Number), samples_needed: 256 });

    const { entries } = (await server.query("audit", { limit: "1000" }, FIRST)) as { entries: Array<{ action: string }> };
    const count = (action: string) => entries.filter((entry) => entry.action === action).length;
    expect([count("model.train"), count("model.train_cancel")]).toEqual([PER_TENANT + 1, 1]);
  });

  it("survive a kill: what waited goes on, what ran says that it was interrupted", async () => {
    const { server, machine, options } = await filled();
    const [running, waiting, cancelled] = [await train(server, FIRST), await train(server, FIRST), await train(server, SECOND)];
    await rest(server);
    await server.query("cancelTraining", {}, SECOND, null, { id: cancelled });
    expect(await jobOf(server, FIRST, running)).toMatchObject({ status: "running" });
    server.kill();
    const again = new SimulatedServer({ ...options, tenants: TENANTS, epoch: 2 }, machine);
    await again.open();
    await rest(again);
    machine.clock.advance(MINUTE_MS);
    await rest(again);
    expect(await jobOf(again, FIRST, running)).toMatchObject({ status: "failed", reason: expect.stringMatching(/^interrupted/) });
    expect(await jobOf(again, FIRST, waiting)).toMatchObject({ status: "failed", reason: expect.not.stringMatching(/interrupted/) });
    expect(await jobOf(again, SECOND, cancelled)).toMatchObject({ status: "cancelled", reason: "cancelled by simulation" });
    expect(again.counter("jobsInterrupted")).toBe(1);
  });
});
