// What *** stands for when a webhook or a runbook is changed: what is stored under that very name, for the origin that it was given for.
import { expect, it } from "vitest";
import { Rig } from "../../../support/coordinator-rig.ts";

const NAMES = ["constructor", "toString", "hasOwnProperty", "valueOf"];
const HOOK = { name: "w1", url: "https://hooks.example.com/x/secret", headers: { Authorization: "Bearer S" }, secret: "hmac-secret" };
const HIDDEN_HOOK = { ...HOOK, url: "https://hooks.example.com/***", headers: { Authorization: "***" }, secret: "***" };
/** An object with a member of any name, __proto__ among them, as JSON.parse makes it. */
const named = (name: string, value: string) => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`) as Record<string, string>;
const step = (change: object = {}) => ({ name: "go", type: "http", url: "https://deploy.example.com/{{service_id}}", ...change });
const runbook = (change: object = {}) => ({ id: "r1", name: "r1", steps: [step()], ...change });

async function withHook(body: object = HOOK): Promise<Rig> {
  const rig = await Rig.open();
  expect((await rig.ask("createWebhook", {}, {}, "default", body)).status).toBe(201);
  return rig;
}

const change = (rig: Rig, body: object) => rig.ask("changeWebhook", {}, { name: "w1" }, "default", body);

it.each(NAMES)("a webhook's header %s that is new cannot be ***, and one that is there can", async (name) => {
  const rig = await withHook();
  const refused = await change(rig, { ...HIDDEN_HOOK, headers: named(name, "***") });
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(`there is no header "${name}"`)]);
  expect((await change(rig, { ...HIDDEN_HOOK, headers: named(name, "mine") })).status).toBe(200);
  expect((await change(rig, { ...HIDDEN_HOOK, headers: named(name, "***") })).status).toBe(200);
});

it.each(NAMES)("a runbook's header and secret %s that are new cannot be ***", async (name) => {
  const rig = await Rig.open();
  expect((await rig.ask("createRunbook", {}, {}, "default", runbook())).status).toBe(201);
  const put = (body: object) => rig.ask("changeRunbook", {}, { id: "r1" }, "default", body);
  const header = await put(runbook({ steps: [step({ headers: named(name, "***") })] }));
  expect([header.status, header.body.message]).toEqual([400, expect.stringContaining(`there is no header "${name}"`)]);
  const secret = await put(runbook({ secrets: named(name, "***") }));
  expect(secret.status).toBe(400);
  const unknown = await put(runbook({ steps: [step({ body: `{{${name}}}` })] }));
  expect([unknown.status, unknown.body.message]).toEqual([400, expect.stringContaining("nothing is known of the placeholder")]);
});

it("what *** stood for at another origin of a webhook has to be given anew, and signs nothing there", async () => {
  const rig = await withHook();
  const moved = { ...HOOK, url: "https://thief.example.com/mine" };
  for (const [body, field] of [
    [{ ...moved, headers: { Authorization: "***" } }, "headers.Authorization"],
    [{ ...moved, secret: "***" }, "secret"],
    [{ ...HIDDEN_HOOK, url: "http://hooks.example.com/x" }, "headers.Authorization"],
    [{ ...HIDDEN_HOOK, url: "https://hooks.example.com:8443/x" }, "headers.Authorization"],
  ] as const) {
    const refused = await change(rig, body);
    expect([refused.status, refused.body.error, refused.body.field]).toEqual([422, "unprocessable", field]);
  }
  expect((await change(rig, { ...HIDDEN_HOOK, url: "https://hooks.example.com/other" })).status).toBe(200);
  expect((await change(rig, { ...moved, secret: "another-secret" })).status).toBe(200);
});

it("an import of a configuration moves no secret either", async () => {
  const rig = await withHook();
  const webhooks = [{ ...HIDDEN_HOOK, url: "https://thief.example.com/mine" }];
  const { body } = await rig.ask("importConfiguration", {}, {}, "default", { format: 1, webhooks });
  expect(body.sections.webhooks).toMatchObject({ changed: 0, refused: 1 });
  expect(body.problems[0].message).toContain("given for another target");
});

it("what *** stood for in a runbook goes to the origins that it was given for", async () => {
  const rig = await Rig.open();
  const secrets = { token: "T0KEN", other: "0THER" };
  const [used, plain] = [step({ url: "https://deploy.example.com/?k={{secrets.token}}", headers: { A: "a" } }), step({ name: "two" })];
  expect((await rig.ask("createRunbook", {}, {}, "default", runbook({ secrets, steps: [used, plain] }))).status).toBe(201);
  const put = (body: object) => rig.ask("changeRunbook", {}, { id: "r1" }, "default", runbook(body));
  const hidden = { token: "***", other: "***" };
  const thief = "https://thief.example.com/";
  for (const [change, field] of [
    [{ secrets: hidden, steps: [step({ url: `${thief}?k={{secrets.token}}` })] }, "secrets.token"],
    [{ secrets: hidden, steps: [used, step({ name: "two", url: thief, body: "{{ secrets.token }}" })] }, "secrets.token"],
    [{ secrets: hidden, steps: [step({ url: thief, headers: { B: "{{secrets.other}}" } })] }, "secrets.other"],
    [{ secrets, steps: [step({ url: thief, headers: { A: "***" } })] }, "steps[0].headers.A"],
  ] as const) {
    const refused = await put(change);
    expect([refused.status, refused.body.error, refused.body.field]).toEqual([422, "unprocessable", field]);
  }
  const same = [
    step({ url: "https://deploy.example.com/v2?k={{secrets.token}}", headers: { A: "***" } }),
    step({ name: "two", url: thief }),
  ];
  expect((await put({ secrets: hidden, steps: same })).status).toBe(200);
  expect((await put({ secrets, steps: [step({ url: `${thief}?k={{secrets.token}}` })] })).status).toBe(200);
});

it.each([
  "http:///{{service_id}}/x",
  "http:////{{service_id}}:1/x",
  "https:\\\\{{service_id}}/x",
  "https:///{{attributes.h}}/x",
  "https://{{service_id}}.example.com/",
  "https://example.com:{{attributes.port}}/",
  "https://{{service_id}}@example.com/",
  "{{service_id}}://example.com/",
  "https://example.com{{service_id}}/",
])("no placeholder is a part of the origin: %s", async (url) => {
  const rig = await Rig.open();
  const refused = await rig.ask("createRunbook", {}, {}, "default", runbook({ steps: [step({ url })] }));
  expect([refused.status, refused.body.field]).toEqual([400, "steps[0].url"]);
});
