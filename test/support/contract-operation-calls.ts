// Calls of the endpoints by which a server is run: its configuration as a document, its backups.
import { expect, vi } from "vitest";
import type { ContractDriver } from "./contract-driver.ts";
import { PATIENCE_MS } from "./patience.ts";

export const OPERATION_CALLS: Readonly<Record<string, (driver: ContractDriver) => Promise<void>>> = {
  exportConfiguration: async (driver) => {
    await driver.call("setLabel", 201, { body: { service_id: "exported", key: "team", value: "a" } });
    const document = await driver.call("exportConfiguration", 200);
    expect(document.labels).toContainEqual({ service_id: "exported", key: "team", value: "a" });
    expect(JSON.stringify(document.webhooks)).not.toContain("whsec_");
  },
  importConfiguration: async (driver) => {
    const document = await driver.call("exportConfiguration", 200);
    const again = await driver.call("importConfiguration", 200, { body: document });
    expect(again.problems).toEqual([]);
    for (const [name, counts] of Object.entries<Record<string, number>>(again.sections))
      expect({ name, ...counts }).toMatchObject({ name, created: 0, changed: 0 });
    await driver.call("importConfiguration", 400, { body: { ...document, format: 2 } });
    await driver.call("importConfiguration", 400, { body: { ...document, unknown: [] } });
    const labels = [{ service_id: "imported", key: "team", value: "a" }, { service_id: "imported" }];
    const body = { format: 1, labels };
    const dry = await driver.call("importConfiguration", 200, { body, query: { dry_run: "true" } });
    const counts = { created: 1, changed: 0, unchanged: 0, refused: 1 };
    expect(dry).toMatchObject({ dry_run: true, sections: { labels: counts }, problems: [{ section: "labels", index: 1 }] });
    expect((await driver.call("importConfiguration", 200, { body })).sections.labels).toEqual(counts);
    expect((await driver.call("importConfiguration", 200, { body })).sections.labels).toEqual({ ...counts, created: 0, unchanged: 1 });
  },
  startBackup: async (driver) => {
    await driver.call("startBackup", 400, { body: { whole: "yes" } });
    await driver.call("startBackup", 202, { body: {} });
    await driver.call("startBackup", 409, { body: {} });
  },
  backups: async (driver) => {
    await vi.waitFor(async () => expect((await driver.call("backups", 200)).running).toBeNull(), PATIENCE_MS);
    const { last, backups } = await driver.call("backups", 200);
    expect(last.error).toBeNull();
    expect(backups).toMatchObject([{ name: last.name, files: expect.any(Number) }]);
  },
};
