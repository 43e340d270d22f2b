// The calls of contract-calls.ts on what holds alerts back: silences and inhibition rules.
import type { ContractDriver } from "./contract-driver.ts";

const iso = (offsetMs: number) => new Date(Date.now() + offsetMs).toISOString();

export const HOLDING_CALLS: Readonly<Record<string, (driver: ContractDriver) => Promise<void>>> = {
  createSilence: async ({ call }) => {
    const matchers = [{ name: "service_id", operator: "=~", value: "nobody|no.*" }];
    const once = { matchers, ends_at: iso(3_600_000), comment: "contract" };
    await call("createSilence", 201, { body: once });
    const recurring = { days: ["sat"], from: "22:00", to: "06:00", timezone: "Europe/Berlin" };
    await call("createSilence", 201, { body: { matchers, recurring } });
    await call("createSilence", 400, { body: { ...once, recurring } });
    await call("createSilence", 400, { body: { ...once, matchers: [{ ...matchers[0], value: "(a+" }] } });
  },
  silences: async ({ call }) => {
    const first = await call("silences", 200, { query: { limit: "1" } });
    await call("silences", 200, { query: { limit: "1", page_token: first.page_token } });
  },
  silence: async ({ call }) => {
    const { silences } = await call("silences", 200);
    await call("silence", 200, { path: { id: silences[0].silence_id } });
    await call("silence", 404, { path: { id: "0".repeat(32) } });
  },
  deleteSilence: async ({ call }) => {
    const { silences } = await call("silences", 200);
    for (const { silence_id: id } of silences) await call("deleteSilence", 204, { path: { id } });
    await call("deleteSilence", 404, { path: { id: "0".repeat(32) } });
  },
  createInhibition: async ({ call }) => {
    const source_matchers = [{ name: "service_id", operator: "=", value: "nobody" }];
    const rule = { source_matchers, target_matchers: [{ name: "service_id", operator: "=~", value: "no.*" }], equal: ["environment"] };
    await call("createInhibition", 201, { body: { ...rule, comment: "contract" } });
    await call("createInhibition", 201, { body: rule });
    await call("createInhibition", 400, { body: { ...rule, target_matchers: [] } });
    await call("createInhibition", 400, {
      body: { ...rule, target_matchers: [{ ...source_matchers[0], operator: "=~", value: "(a+" }] },
    });
  },
  inhibitions: async ({ call }) => {
    const first = await call("inhibitions", 200, { query: { limit: "1" } });
    await call("inhibitions", 200, { query: { limit: "1", page_token: first.page_token } });
  },
  inhibition: async ({ call }) => {
    const { inhibitions } = await call("inhibitions", 200);
    await call("inhibition", 200, { path: { id: inhibitions[0].inhibition_id } });
    await call("inhibition", 404, { path: { id: "0".repeat(32) } });
  },
  deleteInhibition: async ({ call }) => {
    const { inhibitions } = await call("inhibitions", 200);
    for (const { inhibition_id: id } of inhibitions) await call("deleteInhibition", 204, { path: { id } });
    await call("deleteInhibition", 404, { path: { id: "0".repeat(32) } });
  },
};
