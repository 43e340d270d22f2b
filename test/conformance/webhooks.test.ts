// Events of anomalies at a webhook's receiver: which leave, how they are signed, tried again, given up, sent again and survive a kill.
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterEach, expect, it } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEXT_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

const bench = new ServerBench();
const opened: WebhookReceiver[] = [];
afterEach(async () => {
  for (const receiver of opened.splice(0)) receiver.close();
  await bench.close();
});

async function receiverOf(): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.open();
  opened.push(receiver);
  return receiver;
}

interface Client {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all shapes
  call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly text: string; readonly body: any }>;
}

function clientOf(server: ServerProcess, folder: string): Client {
  const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
  return {
    async call(method, path, body) {
      const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) };
      const response = await fetch(`${server.origin}/api/v1${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, text, body: text === "" ? null : JSON.parse(text) };
    },
  };
}

/** What was delivered, once it is as wanted: the server delivers in its own time. */
function awaited<T>(ask: () => T | Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  return until("it is delivered", ask, isWanted, { patienceMs: PATIENCE_MS });
}

async function declare({ call }: Client, service: string, severity = "high"): Promise<string> {
  const { status, body } = await call("POST", "/anomalies", { service_id: service, severity, explanation: `${service} is down` });
  expect(status).toBe(201);
  return body.anomaly_id;
}

const SETTINGS = { ENGINES: "1", WEBHOOK_ALLOW_PRIVATE: "true" };
const FAST = { max_attempts: 3, initial_delay_ms: 20, backoff_multiplier: 1, max_delay_ms: 50 };

it("sends what matches, signed so that Standard Webhooks verifies it, and what was declared as resolved", async () => {
  const receiver = await receiverOf();
  const folder = bench.dataFolder();
  const server = await bench.start({ ...SETTINGS, DATA_DIR: folder });
  const client = clientOf(server, folder);
  const { call } = client;
  const url = `${receiver.origin}/hooks/4f1c?key=topsecret`;
  const headers = { Authorization: "Bearer topsecret" };
  const made = await call("POST", "/webhooks", {
    name: "tickets",
    url,
    headers,
    secret: SECRET,
    pattern: { service_id_regex: "^shop|cart", min_anomaly_score: 0.5 },
  });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ url: `${receiver.origin}/***`, headers: { Authorization: "***" }, secret: "***", enabled: true });
  expect((await call("POST", "/webhooks", { name: "tickets", url })).status).toBe(409);
  const tested = await call("POST", "/webhooks/test", { webhook_name: "tickets" });
  expect(tested.body).toMatchObject({ event_type: "webhook.test", attempt: 1, state: "succeeded", status_code: 204, error: null });
  await declare(client, "unrelated");
  await declare(client, "shop-low", "low");
  const id = await declare(client, "my-cart");
  await awaited(
    () => receiver.received.length,
    (count) => count >= 2,
  );
  await call("PATCH", `/anomalies/${id}`, { resolved: true });
  await awaited(
    () => receiver.received.length,
    (count) => count >= 3,
  );
  expect(receiver.events.map(({ event_type, service_id }) => `${event_type} ${service_id}`)).toEqual([
    "webhook.test vedette.test",
    "anomaly.declared my-cart",
    "anomaly.resolved my-cart",
  ]);
  const [, declared, resolved] = receiver.events;
  const shown = (await call("GET", `/anomalies/${id}`)).body;
  for (const name of ["anomaly_id", "service_id", "metric_name", "anomaly_score", "z_score", "detected_at", "severity"]) {
    expect(declared[name], name).toEqual(shown[name]);
  }
  expect(declared).toMatchObject({ tenant_id: "default", resolved: false, environment: "" });
  expect(resolved.resolved).toBe(true);
  expect(declared.verdict_digest).toBe(createHash("sha256").update(JSON.stringify(shown.verdict)).digest("hex"));
  // Standard Webhooks' own library.
  const [, sent] = receiver.received;
  expect(sent?.headers).toMatchObject({
    authorization: "Bearer topsecret",
    "idempotency-key": declared.event_id,
    "webhook-id": declared.event_id,
  });
  expect(new Webhook(SECRET).verify(sent?.text ?? "", sent?.headers ?? {})).toEqual(declared);
  expect(() => new Webhook(NEXT_SECRET).verify(sent?.text ?? "", sent?.headers ?? {})).toThrow();
  // Ed25519 beside it.
  const { pem, public_key: standard } = (await call("GET", "/webhooks/public-key")).body;
  const v1a =
    sent?.headers["webhook-signature"]
      ?.split(" ")
      .find((one) => one.startsWith("v1a,"))
      ?.slice(4) ?? "";
  const content = Buffer.from(`${sent?.headers["webhook-id"]}.${sent?.headers["webhook-timestamp"]}.${sent?.text}`);
  expect(verify(null, content, createPublicKey(pem), Buffer.from(v1a, "base64"))).toBe(true);
  expect(Buffer.from(standard.slice("whpk_".length), "base64")).toHaveLength(32);
});

it("signs with both secrets for a day, keeps what is sent back hidden, shows nothing secret, and hears no more once deleted", async () => {
  const receiver = await receiverOf();
  const folder = bench.dataFolder();
  const client = clientOf(await bench.start({ ...SETTINGS, DATA_DIR: folder }), folder);
  const { call } = client;
  const url = `${receiver.origin}/hooks/4f1c?key=topsecret`;
  const headers = { Authorization: "Bearer topsecret" };
  const made = await call("POST", "/webhooks", { name: "tickets", url, headers, secret: SECRET });
  const changed = await call("PUT", "/webhooks/tickets", {
    ...made.body,
    created_at: undefined,
    paused: undefined,
    transform_trial: undefined,
    secret: NEXT_SECRET,
  });
  expect(changed.status).toBe(200);
  await call("POST", "/webhooks/test", { webhook_name: "tickets" });
  const last = receiver.received.at(-1);
  for (const secret of [SECRET, NEXT_SECRET]) new Webhook(secret).verify(last?.text ?? "", last?.headers ?? {});
  expect(last).toMatchObject({ path: "/hooks/4f1c?key=topsecret", headers: { authorization: "Bearer topsecret" } });
  // Nothing secret is shown anywhere.
  const listed = await call("GET", "/webhooks");
  const audit = await call("GET", "/audit");
  for (const { text } of [listed, audit, made, changed]) expect(text).not.toMatch(/topsecret|MfKQ9r8|C2FVsBQ/);
  // A deleted one hears no more.
  expect((await call("DELETE", "/webhooks/tickets")).status).toBe(204);
  await declare(client, "shop-2");
  expect((await call("GET", "/webhooks/tickets/deliveries")).status).toBe(404);
  expect(receiver.received).toHaveLength(1);
});

it("tries again, gives up into a dead letter, sends that again under its id, and goes on after a kill", async () => {
  const receiver = await receiverOf();
  const folder = bench.dataFolder();
  let server = await bench.start({ ...SETTINGS, DATA_DIR: folder });
  let client = clientOf(server, folder);
  receiver.answer = () => ({ status: 503 });
  await client.call("POST", "/webhooks", { name: "hook", url: receiver.origin, retry: FAST });
  await declare(client, "shop");
  const dead = await awaited(
    () => client.call("GET", "/dlq?reason=webhook_exhausted"),
    ({ body }) => body.total === 1,
  );
  expect(receiver.received).toHaveLength(3);
  const attempts = (await client.call("GET", "/webhooks/hook/deliveries")).body;
  expect(attempts.total).toBe(3);
  expect(attempts.deliveries.map(({ attempt, state, status_code }: Record<string, unknown>) => [attempt, state, status_code])).toEqual([
    [3, "exhausted", 503],
    [2, "failed", 503],
    [1, "failed", 503],
  ]);
  const page = (await client.call("GET", "/webhooks/hook/deliveries?limit=2")).body;
  const rest = (await client.call("GET", `/webhooks/hook/deliveries?limit=2&page_token=${page.page_token}`)).body;
  expect([...page.deliveries, ...rest.deliveries]).toEqual(attempts.deliveries);
  // The event waits when the server is killed in between, and leaves after the next start.
  await client.call("POST", "/dlq/replay", { ids: [dead.body.entries[0].dlq_id] });
  await awaited(
    () => client.call("GET", "/dlq?reason=webhook_exhausted"),
    ({ body }) => body.total === 0 || receiver.received.length > 3,
  );
  receiver.answer = () => ({ status: 200 });
  await server.kill();
  server = await bench.start({ ...SETTINGS, DATA_DIR: folder });
  client = clientOf(server, folder);
  const after = await awaited(
    async () => (await client.call("GET", "/webhooks/hook/deliveries")).body.deliveries,
    (deliveries) => deliveries[0]?.state === "succeeded" || deliveries[0]?.state === "exhausted",
  );
  expect(new Set(receiver.events.map(({ event_id }) => event_id)).size).toBe(1);
  expect(after[0].event_id).toBe(receiver.events[0].event_id);
  // 410 ends it.
  receiver.answer = () => ({ status: 410 });
  await declare(client, "shop-2");
  await awaited(
    () => client.call("GET", "/webhooks/hook"),
    ({ body }) => body.enabled === false,
  );
  const count = receiver.received.length;
  await declare(client, "shop-3");
  expect(receiver.received).toHaveLength(count);
});
