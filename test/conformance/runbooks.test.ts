// Runbooks in a running server: what is suggested, a dry run, a run by itself with its approval by somebody else, its note, its silence, and what nobody is shown.
import { SignJWT } from "jose";
import { afterEach, expect, test } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

const JWT_SECRET = "a secret of this test, of 32 bytes or more";
const SECRET = "top-secret-token";
const bench = new ServerBench();
let receiver: WebhookReceiver;
afterEach(async () => {
  receiver.close();
  await bench.close();
});

async function tokenOf(subject: string, role: string): Promise<string> {
  const claims = { sub: subject, tenant_id: "default", role, exp: Math.floor(Date.now() / 1000) + 600 };
  return new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(JWT_SECRET));
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all shapes
type Json = any;

function come(ask: () => Promise<Json>, holds: (value: Json) => boolean): Promise<Json> {
  return until("it comes", ask, holds, { patienceMs: PATIENCE_MS });
}

type Asking = (method: string, path: string, body?: unknown, token?: string) => Promise<{ readonly status: number; readonly body: Json }>;

function runbookFor(origin: string) {
  const steps = [
    { name: "note", type: "annotate", text: "looking at {{service_id}}" },
    {
      name: "go",
      type: "http",
      approval_required: true,
      url: `${origin}/go/{{service_id}}?key={{secrets.token}}`,
      headers: { "X-Token": "{{secrets.token}}" },
      body: '{"why": "{{explanation}}", "key": "{{secrets.token}}"}',
    },
    { name: "tell", type: "notify", channels: ["chat:ops"], message: "restarted {{service_id}}" },
    { name: "quiet", type: "silence", seconds: 600 },
  ];
  return { id: "restart", name: "Restart", match: { service_id_regex: "^shop" }, auto: true, steps, secrets: { token: SECRET } };
}

/** Rejects a run of the starter's own, which nobody approves alone, and approves the other once. Gives the id of the first. */
async function decideOn(
  call: Asking,
  { id, execution, operator }: { readonly id: string; readonly execution: string; readonly operator: string },
) {
  const own = await call("POST", "/runbooks/restart/execute", { anomaly_id: id });
  const ownId = own.body.execution_id as string;
  await come(
    () => call("GET", `/runbooks/executions/${ownId}`),
    ({ body }) => body.state === "pending_approval",
  );
  expect((await call("POST", `/runbooks/executions/${ownId}/approve`, { step: "go" })).status).toBe(403);
  const rejected = await call("POST", `/runbooks/executions/${ownId}/reject`, { step: "go", comment: "not twice" }, operator);
  expect(rejected.body).toMatchObject({ state: "rejected", reason: "step go was rejected by joe: not twice" });
  expect((await call("POST", `/runbooks/executions/${execution}/approve`, { step: "tell" }, operator)).status).toBe(409);
  expect((await call("POST", `/runbooks/executions/${execution}/approve`, { step: "go" }, operator)).status).toBe(200);
  expect((await call("POST", `/runbooks/executions/${execution}/approve`, { step: "go" }, operator)).status).toBe(409);
  return ownId;
}

/** Secrets that are sent back as *** stay, and all of it is in the audit log. */
async function changeAndAudit(call: Asking, runbook: ReturnType<typeof runbookFor>): Promise<void> {
  await call("PUT", "/runbooks/restart", { ...runbook, secrets: { token: "***" } });
  const { body: audit } = await call("GET", "/audit?limit=50");
  const actions = audit.entries.map(({ action }: { action: string }) => action).filter((action: string) => action.startsWith("runbook"));
  expect(new Set(actions)).toEqual(new Set(["runbook.create", "runbook.execute", "runbook.reject", "runbook.approve", "runbook.change"]));
}

async function showsDry(call: Asking, id: string, why: string): Promise<void> {
  const dry = await call("POST", "/runbooks/restart/execute?dry_run=true", { anomaly_id: id });
  expect(dry.body).toMatchObject({ state: "succeeded", dry_run: true, started_by: "jane" });
  expect(dry.body.steps[1]).toMatchObject({
    state: "rendered",
    request: { url: `${receiver.origin}/go/shop%2F1?key=***`, headers: { "X-Token": "***" } },
  });
  expect(JSON.parse(dry.body.steps[1].request.body)).toEqual({ why, key: "***" });
}

test("a runbook is suggested, shown dry, begins by itself, waits for an approval, and does its steps once", async () => {
  receiver = await WebhookReceiver.open();
  receiver.answer = () => ({ status: 200 });
  const folder = bench.dataFolder();
  const settings = {
    ENGINES: "1",
    WEBHOOK_ALLOW_PRIVATE: "true",
    JWT_SECRET,
    CHAT_WEBHOOKS: `ops=${receiver.origin}/chat`,
    DATA_DIR: folder,
  };
  const server = await bench.start(settings);
  const [admin, operator] = [await tokenOf("jane", "admin"), await tokenOf("joe", "operator")];
  const call = async (method: string, path: string, body?: unknown, token = admin) => {
    const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) };
    const answer = await fetch(`${server.origin}/api/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect([path, text.includes(SECRET)]).toEqual([path, false]);
    return { status: answer.status, body: JSON.parse(text) as Json };
  };
  const runbook = runbookFor(receiver.origin);
  const { steps: _, ...bare } = runbook;
  const renamed = await call("POST", "/runbooks", { ...bare, steps: [{ action: "http", url: receiver.origin }] });
  expect(renamed).toMatchObject({ status: 400, body: { field: "steps.0.action", message: expect.stringContaining("type") } });
  expect((await call("POST", "/runbooks", runbook)).status).toBe(201);

  const why = 'it is "down"\\';
  const { body: anomaly } = await call("POST", "/anomalies", { service_id: "shop/1", severity: "high", explanation: why });
  await call("POST", "/anomalies", { service_id: "other", severity: "high", explanation: "no matter" });
  const id = anomaly.anomaly_id as string;
  await showsDry(call, id, why);
  const { body: reports } = await come(
    () => call("GET", `/rca/reports?anomaly_id=${id}`),
    ({ body }) => body.total > 0,
  );
  expect(reports.reports[0].suggested_runbook).toBe("Restart");

  const waits = await come(
    () => call("GET", "/runbooks/executions?state=pending_approval"),
    ({ body }) => body.total > 0,
  );
  expect(waits.body).toMatchObject({ total: 1, executions: [{ anomaly_id: id, started_by: null, pending_step: "go" }] });
  const execution = waits.body.executions[0].execution_id as string;
  expect(receiver.received.filter(({ path }) => path.startsWith("/go"))).toEqual([]);
  const ownId = await decideOn(call, { id, execution, operator });
  const over = await come(
    () => call("GET", `/runbooks/executions/${execution}`),
    ({ body }) => !["running", "pending_approval"].includes(body.state),
  );
  expect(over.body).toMatchObject({ state: "succeeded", reason: null });
  const [sent, ...more] = receiver.received.filter(({ path }) => path.startsWith("/go"));
  expect(more).toEqual([]);
  expect(sent).toMatchObject({ path: `/go/shop%2F1?key=${SECRET}`, headers: { "x-token": SECRET, "idempotency-key": `${execution}-1` } });
  expect(JSON.parse(sent?.text ?? "")).toEqual({ why, key: SECRET });
  await come(
    async () => receiver.received.filter(({ path, text }) => path === "/chat" && text.includes("restarted shop/1")).length,
    (count) => count === 1,
  );
  expect((await call("GET", `/anomalies/${id}`)).body.annotations).toMatchObject([
    { text: "looking at shop/1", execution_id: execution },
    { text: "looking at shop/1", execution_id: ownId },
  ]);
  expect((await call("GET", "/silences")).body.silences).toMatchObject([{ state: "active", created_by: "runbook restart" }]);

  await changeAndAudit(call, runbook);
});
