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
    await importsWhatPeopleDo(driver);
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

/** Runbooks, budgets and known days: written, refused with the reason, found equal, and exported without secrets. */
async function importsWhatPeopleDo(driver: ContractDriver): Promise<void> {
  const steps = [{ type: "http", url: "https://hooks.example.com/restart", headers: { "X-Key": "{{secrets.token}}" } }];
  const runbook = { id: "imported", name: "Imported", steps, secrets: { token: "very-secret" } };
  const body = {
    format: 1,
    runbooks: [runbook, { ...runbook, id: "hidden", secrets: { token: "***" } }, { ...runbook, id: undefined }],
    page_budgets: [
      { team: "imported", pages_per_week: 7 },
      { team: "imported", pages_per_week: null },
    ],
    calendar: [
      { date: "2031-12-24", name: "Eve", like: "weekend" },
      { date: "2031-12-25", name: "Christmas", like: "weekend", yearly: true },
    ],
  };
  const sections = (created: number, unchanged: number) => ({
    runbooks: { created, changed: 0, unchanged, refused: 2 },
    page_budgets: { created, changed: 0, unchanged, refused: 1 },
    calendar: { created: 2 * created, changed: 0, unchanged: 2 * unchanged, refused: 0 },
  });
  const first = await driver.call("importConfiguration", 200, { body });
  expect(first.sections).toEqual(sections(1, 0));
  expect(first.problems.map(({ message }: { message: string }) => message)).toEqual([
    expect.stringMatching(/\*\*\* in the file/),
    expect.stringMatching(/^id is missing/),
    expect.stringMatching(/deletes nothing/),
  ]);
  const document = await driver.call("exportConfiguration", 200);
  expect(document.page_budgets).toContainEqual({ team: "imported", pages_per_week: 7 });
  expect(document.calendar).toContainEqual({ date: "2031-12-24", name: "Eve", like: "weekend", yearly: false });
  expect(JSON.stringify(document)).not.toContain("very-secret");
  const again = await driver.call("importConfiguration", 200, { body: document });
  for (const name of ["runbooks", "page_budgets", "calendar"])
    expect(again.sections[name]).toMatchObject({ created: 0, changed: 0, refused: 0 });
  const day = { date: "2031-12-24", name: "Eve" };
  const calendar = [
    { ...day, like: "unusual" },
    { ...day, like: "never" },
  ];
  const one = await driver.call("importConfiguration", 200, { body: { format: 1, calendar } });
  expect(one.sections.calendar).toEqual({ created: 0, changed: 1, unchanged: 0, refused: 1 });
  expect((await driver.call("calendar", 200)).days).toHaveLength(document.calendar.length);
}
