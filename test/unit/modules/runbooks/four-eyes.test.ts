// Approvals are by two people of one content.
import { expect, it } from "vitest";
import type { Principal } from "../../../../src/core/protocol/query.ts";
import { Rig } from "../../../support/coordinator-rig.ts";

const as = (subject: string, keyId?: string): Principal => ({
  tenant: "default",
  subject,
  role: "admin",
  ...(keyId !== undefined && { keyId }),
});
const step = (path: string) => ({ name: "go", type: "http", approval_required: true, url: `https://example.com/${path}` });
const runbook = (path: string, change: object = {}) => ({
  id: "f1",
  name: "f1",
  match: { min_anomaly_score: 0 },
  steps: [step(path)],
  ...change,
});

async function open(body: object): Promise<Rig> {
  const rig = await Rig.open({ sleepsForEver: true });
  expect((await rig.askAs(as("alice"), "createRunbook", { content: body })).status).toBe(201);
  return rig;
}

async function startedBy(rig: Rig, who: Principal): Promise<string> {
  const { body } = await rig.askAs(who, "executeRunbook", { path: { id: "f1" }, content: {} });
  await waits(rig, body.execution_id);
  return body.execution_id;
}

const waits = (rig: Rig, id: string) =>
  expect.poll(async () => (await rig.askAs(as("alice"), "execution", { path: { id } })).body.state).toBe("pending_approval");

async function approve(rig: Rig, who: Principal, id: string, content: object = {}): Promise<number> {
  return (await rig.askAs(who, "approveStep", { path: { id }, content: { step: "go", ...content } })).status;
}

async function keyOf(rig: Rig, who: Principal): Promise<Principal> {
  const { body } = await rig.askAs(who, "createKey", { content: { name: "mine", scope: "admin" } });
  return as(`key:${body.key_id}`, body.key_id);
}

it("a key acts as its owner, whoever of the two starts; a key that a key made too", async () => {
  const rig = await open(runbook("x"));
  const key = await keyOf(rig, as("alice"));
  const second = await keyOf(rig, key);
  expect(await approve(rig, key, await startedBy(rig, as("alice")))).toBe(403);
  expect(await approve(rig, as("alice"), await startedBy(rig, key))).toBe(403);
  expect(await approve(rig, second, await startedBy(rig, key))).toBe(403);
  await rig.askAs(as("alice"), "revokeKey", { path: { key_id: key.keyId as string } });
  expect(await approve(rig, second, await startedBy(rig, as("alice")))).toBe(403);
  expect(await approve(rig, as("bob"), await startedBy(rig, second))).toBe(200);
});

it.each([
  [
    "by hand",
    (rig: Rig, who: Principal) => rig.askAs(who, "declareAnomaly", { content: { service_id: "s", severity: "high", explanation: "x" } }),
  ],
  [
    "as an alert",
    (rig: Rig, who: Principal) =>
      rig.askAs(who, "alertWebhook", {
        content: [{ status: "firing", labels: { alertname: "x", severity: "critical" }, annotations: {} }],
      }),
  ],
])("who declared an anomaly %s counts as having started what it starts", async (_, declare) => {
  const rig = await open(runbook("x", { auto: true }));
  const key = await keyOf(rig, as("olga"));
  expect((await declare(rig, key)).status).toBeLessThan(300);
  await rig.drain();
  const { body } = await rig.askAs(as("alice"), "executions");
  expect(body.executions).toMatchObject([{ started_by: null, starter: "olga" }]);
  const id = body.executions[0].execution_id as string;
  await waits(rig, id);
  expect([await approve(rig, as("olga"), id), await approve(rig, key, id), await approve(rig, as("bob"), id)]).toEqual([403, 403, 200]);
});

it("what is approved is the content that runs, also after the runbook was made anew under its id", async () => {
  const rig = await open(runbook("DANGEROUS"));
  const id = await startedBy(rig, as("olga"));
  const run = (await rig.askAs(as("bob"), "execution", { path: { id } })).body;
  expect(run.steps[0].request.url).toBe("https://example.com/DANGEROUS");
  await rig.askAs(as("alice"), "deleteRunbook", { path: { id: "f1" } });
  expect(await approve(rig, as("bob"), id)).toBe(409);
  const made = await rig.askAs(as("alice"), "createRunbook", { content: runbook("harmless") });
  expect([made.body.revision, made.body.digest === run.digest]).toEqual([1, false]);
  expect(await approve(rig, as("bob"), id)).toBe(409);
  await rig.askAs(as("alice"), "changeRunbook", { path: { id: "f1" }, content: runbook("DANGEROUS") });
  expect(await approve(rig, as("bob"), id, { digest: made.body.digest })).toBe(409);
  expect(await approve(rig, as("bob"), id, { digest: run.digest })).toBe(200);
});
