// The calls of contract-calls.ts on webhooks. No event leaves: nothing listens where they lead.
import type { ContractDriver } from "./contract-driver.ts";

const WEBHOOK = { name: "contract", url: "https://192.0.2.1/", enabled: false };
const OPEN = { ...WEBHOOK, url: "https://127.0.0.1:9/" };

export const WEBHOOK_CALLS: Readonly<Record<string, (driver: ContractDriver) => Promise<void>>> = {
  createWebhook: async ({ call }) => {
    await call("createWebhook", 201, { body: { ...WEBHOOK, url: "https://example.invalid/x", pattern: { environments: ["production"] } } });
    await call("createWebhook", 201, {
      body: { ...WEBHOOK, name: "contract-2", url: "https://example.invalid/y", secret: "a secret of mine" },
    });
    await call("createWebhook", 409, { body: { ...WEBHOOK, url: "https://example.invalid/x" } });
    await call("createWebhook", 400, { body: { ...WEBHOOK, name: "test", url: "https://example.invalid/x" } });
    await call("createWebhook", 400, { body: { ...OPEN, name: "contract-3" } });
    await call("createWebhook", 400, { body: { ...WEBHOOK, name: "contract-3", pattern: { service_id_regex: "a(b" } } });
    await call("createWebhook", 201, {
      body: { ...WEBHOOK, name: "contract-3", url: "https://example.invalid/z", transform: { type: "jq", expression: "." } },
    });
  },
  webhooks: async ({ call }) => {
    const first = await call("webhooks", 200, { query: { limit: "1" } });
    await call("webhooks", 200, { query: { limit: "1", page_token: first.page_token } });
  },
  testWebhook: async ({ call }) => {
    await call("testWebhook", 200, { body: { webhook_name: "contract" } });
    await call("testWebhook", 404, { body: { webhook_name: "nobody" } });
  },
  webhookKey: async ({ call }) => {
    await call("webhookKey", 200);
  },
  webhook: async ({ call }) => {
    await call("webhook", 200, { path: { name: "contract" } });
    await call("webhook", 404, { path: { name: "nobody" } });
  },
  changeWebhook: async ({ call }) => {
    await call("changeWebhook", 200, {
      path: { name: "contract-2" },
      body: { ...WEBHOOK, name: "contract-2", url: "https://example.invalid/***", secret: "***" },
    });
    await call("changeWebhook", 404, { path: { name: "nobody" }, body: { ...WEBHOOK, url: "https://example.invalid/" } });
  },
  deleteWebhook: async ({ call }) => {
    await call("deleteWebhook", 204, { path: { name: "contract-2" } });
    await call("deleteWebhook", 404, { path: { name: "contract-2" } });
  },
  webhookDeliveries: async ({ call }) => {
    await call("webhookDeliveries", 200, { path: { name: "contract" }, query: { limit: "1" } });
    await call("webhookDeliveries", 404, { path: { name: "nobody" } });
  },
};
