// Faults of the data folder: kept over restarts until an operator has acknowledged them, told by /healthz and the status.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LogWatch, tryWriting } from "../../../../src/actors/front/log-watch.ts";
import { DataFaultFile } from "../../../../src/adapters/log/data-fault-file.ts";
import { DATA_FAULTS_MAX } from "../../../../src/core/config/limits.ts";
import { Rig } from "../../../support/coordinator-rig.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vedette-faults-"));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true, force: true });
});

const fault = (id: string) => ({ id, kind: "log_damaged" as const, what: `${id} cannot be read` });

describe("the file of faults", () => {
  it("keeps a fault once, over restarts, readable by its owner alone", () => {
    const file = new DataFaultFile(folder, 1);
    expect([file.add(fault("a"), 10), file.add(fault("a"), 20), file.add(fault("b"), 30)]).toEqual([true, false, true]);
    const next = new DataFaultFile(folder, 40);
    expect(next.faults).toEqual([
      { ...fault("a"), sinceMs: 10, acknowledged: null },
      { ...fault("b"), sinceMs: 30, acknowledged: null },
    ]);
    expect(statSync(join(folder, "data-faults.json")).mode & 0o777).toBe(0o600);
  });

  it("keeps an acknowledgement over restarts, and does not open an acknowledged fault that is found again", () => {
    const file = new DataFaultFile(folder, 1);
    file.add(fault("a"), 10);
    expect([file.open, file.acknowledge("ada", 20), file.open]).toEqual([1, 1, 0]);
    const next = new DataFaultFile(folder, 30);
    next.add(fault("a"), 40);
    expect([next.open, next.faults[0]?.acknowledged]).toEqual([0, { by: "ada", atMs: 20 }]);
    next.add(fault("b"), 50);
    expect(next.open).toBe(1);
  });

  it("is bounded: acknowledged faults go first, open ones never", () => {
    const file = new DataFaultFile(folder, 1);
    file.add(fault("first"), 1);
    file.acknowledge("ada", 2);
    for (let i = 1; i < DATA_FAULTS_MAX; i++) file.add(fault(`fault ${i}`), 3);
    expect(file.add(fault("beyond"), 4)).toBe(true);
    expect(file.faults.some(({ id }) => id === "first")).toBe(false);
    expect(file.add(fault("much beyond"), 5)).toBe(false);
    expect(file.open).toBe(DATA_FAULTS_MAX);
  });

  it.each(["{", "[]", '{"version":2,"faults":[]}', '{"version":1,"faults":[{"id":1}]}', '{"version":1,"faults":[null]}'])(
    "that holds %s is a fault of its own",
    (text) => {
      writeFileSync(join(folder, "data-faults.json"), text);
      const file = new DataFaultFile(folder, 7);
      expect(file.faults).toMatchObject([{ kind: "data_missing", what: expect.stringContaining("cannot be read"), sinceMs: 7 }]);
      file.acknowledge("ada", 8);
      expect(new DataFaultFile(folder, 9).open).toBe(0);
    },
  );

  it("has a fault in force that cannot be stored, and no acknowledgement that cannot", () => {
    const file = new DataFaultFile(join(folder, "gone"), 1);
    expect(() => file.add(fault("a"), 10)).toThrow("ENOENT");
    expect(file.open).toBe(1);
    expect(() => file.acknowledge("ada", 20)).toThrow("ENOENT");
    expect(file.open).toBe(1);
  });
});

describe("the coordinator", () => {
  const rigWithFaults = () => Rig.open({ faultKeeper: new DataFaultFile(folder, 1) });

  it("is degraded from a fault until an operator acknowledges it, with a row of the audit log", async () => {
    const rig = await rigWithFaults();
    await rig.coordinator.handle({ type: "engines-ready", tornEnds: new Map() });
    const state = async () => [
      (await rig.ask("status")).body.status,
      (await rig.ask("status")).body.components.data,
      rig.counter("dataFaults"),
    ];
    expect(await state()).toEqual(["ok", "ok", 0]);
    await rig.coordinator.handle({ type: "data-fault", fault: fault("a") });
    expect(await state()).toEqual(["degraded", "damaged", 1]);
    expect((await rig.ask("dataFaults")).body).toMatchObject({ faults: [{ id: "a", acknowledged_by: null }], open: 1, total: 1 });

    const acknowledged = await rig.ask("acknowledgeDataFaults");
    expect(acknowledged.body).toMatchObject({ faults: [{ id: "a", acknowledged_by: expect.any(String) }], open: 0 });
    expect(await state()).toEqual(["ok", "ok", 0]);
    expect(readFileSync(join(folder, "data-faults.json"), "utf8")).toContain('"acknowledged":{');
    expect((await rig.ask("audit")).body.entries).toMatchObject([{ action: "data_faults.acknowledge", after: { acknowledged: ["a"] } }]);
    expect((await rig.ask("acknowledgeDataFaults")).status).toBe(200);
    expect((await rig.ask("audit")).body.entries).toHaveLength(1);
  });

  it("starts degraded with what was not acknowledged before", async () => {
    new DataFaultFile(folder, 1).add(fault("a"), 1);
    expect((await rigWithFaults()).counter("dataFaults")).toBe(1);
  });

  it("stays degraded where the acknowledgement cannot be stored", async () => {
    const keeper = new DataFaultFile(join(folder, "gone"), 1);
    const rig = await Rig.open({ faultKeeper: keeper });
    await rig.coordinator.handle({ type: "data-fault", fault: fault("a") });
    expect((await rig.ask("acknowledgeDataFaults")).body).toMatchObject({ error: "store_unavailable" });
    expect(rig.counter("dataFaults")).toBe(1);
  });
});

describe("the watch over the log", () => {
  it("says that writes are refused from the first refusal until a trial succeeds", async () => {
    let refusals = 0;
    let trials = 0;
    let hasCapacity = false;
    const watch = new LogWatch({
      refusals: () => refusals,
      trial: async () => {
        trials++;
        if (!hasCapacity) throw new Error("ENOSPC");
      },
    });
    await watch.check();
    expect([watch.isRefusing, trials]).toEqual([false, 0]);
    refusals = 1;
    expect(watch.isRefusing).toBe(true);
    await watch.check();
    expect([watch.isRefusing, trials]).toEqual([true, 1]);
    hasCapacity = true;
    await watch.check();
    expect(watch.isRefusing).toBe(false);
    refusals = 2;
    expect(watch.isRefusing).toBe(true);
  });

  it("stays where a write was refused during the trial", async () => {
    let refusals = 1;
    const watch = new LogWatch({
      refusals: () => refusals,
      trial: async () => {
        refusals = 2;
      },
    });
    await watch.check();
    expect(watch.isRefusing).toBe(true);
  });

  it("leaves nothing behind", async () => {
    await tryWriting(folder);
    await expect(tryWriting(join(folder, "gone"))).rejects.toThrow("ENOENT");
    expect(() => statSync(join(folder, "trial.discarded"))).toThrow("ENOENT");
  });
});
