// Transforms of webhooks in a running server: tried when they are saved, run on what is delivered, ended when they overrun.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

const bench = new ServerBench();
let receiver: WebhookReceiver;
afterEach(async () => {
  receiver.close();
  await bench.close();
});

const isLinuxX64 = process.platform === "linux" && process.arch === "x64";
const JQ = (expression: string) => ({ type: "jq", expression });
const JAVASCRIPT = (code: string) => ({ type: "javascript", code });

test.runIf(isLinuxX64)(
  "a transform is tried when it is saved, makes what is delivered, and the status names its walls (D6, D14)",
  async () => {
    receiver = await WebhookReceiver.open();
    const folder = bench.dataFolder();
    const server = await bench.start({ ENGINES: "1", WEBHOOK_ALLOW_PRIVATE: "true", DATA_DIR: folder });
    const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all shapes
    const call = async (method: string, path: string, body?: unknown): Promise<any> => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const response = await fetch(`${server.origin}/api/v1${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return response.json();
    };
    const declare = (service: string) =>
      call("POST", "/anomalies", { service_id: service, severity: "high", explanation: `${service} is down` });
    const attempts = async (name: string, count: number) => {
      const read = async () => (await call("GET", `/webhooks/${name}/deliveries`)).deliveries;
      const areMade = (deliveries: ReadonlyArray<{ state: string }>) =>
        deliveries.filter(({ state }) => state !== "pending").length >= count;
      return until(`${name} has ${count} attempts`, read, areMade, { patienceMs: PATIENCE_MS });
    };

    expect((await call("GET", "/status")).sandbox).toMatchObject({ walls: null, processes: 0 });
    await declare("shop-1");
    const save = (name: string, transform: unknown) => call("POST", "/webhooks", { name, url: `${receiver.origin}/${name}`, transform });
    const text = await save("text", JQ("{text: .service_id, cause: .root_cause.summary}"));
    expect(text.transform_trial).toMatchObject([{ output: { text: "shop-1" }, error: null, line: null }]);
    // D14: of events that the pattern does not take, none.
    const elsewhere = await call("POST", "/webhooks", {
      ...{ name: "elsewhere", url: `${receiver.origin}/elsewhere`, transform: JQ("{text: .service_id}") },
      pattern: { service_id_regex: "^no-such$" },
    });
    expect(elsewhere.transform_trial).toMatchObject([{ output: { text: "vedette.test" }, error: null }]);
    // D6: what Python cannot have is refused with its line.
    const refused = await save("classes", { type: "python", code: "class A:\n    pass\ndef transform(event):\n    return {}" });
    expect(refused).toMatchObject({ error: "unprocessable", field: "transform.code", message: expect.stringMatching(/line 1 .*classes/) });
    const throws = await save("throws", JAVASCRIPT("function transform(event) {\n  throw new Error('no');\n}"));
    expect(throws.transform_trial).toMatchObject([{ output: null, error: "Error: no", line: 2 }]);
    await save("none", JQ("select(.service_id == null)"));
    const python = await save("python", {
      type: "python",
      code: "def transform(event):\n    return {'who': '{}'.format(event['service_id'])}",
    });
    expect(python.transform_trial).toMatchObject([{ output: { who: "shop-1" } }]);
    expect((await call("GET", "/status")).sandbox).toMatchObject({
      walls: { interpreter: true, process: true, kernel: true },
      missing: null,
      languages: ["jq", "javascript", "python"],
    });

    await declare("shop-2");
    expect(await attempts("text", 1)).toMatchObject([{ attempt: 1, state: "succeeded" }]);
    expect(await attempts("throws", 1)).toMatchObject([{ attempt: 1, state: "exhausted", error: "transform: Error: no (line 2)" }]);
    expect((await attempts("none", 1))[0]).toMatchObject({
      attempt: 1,
      state: "succeeded",
      status_code: null,
      error: expect.stringContaining("no output"),
    });
    await attempts("python", 1);
    const got = receiver.received.map(({ path, text: body }) => [path, JSON.parse(body)]).sort();
    expect(got).toEqual([
      ["/python", { who: "shop-2" }],
      ["/text", expect.objectContaining({ text: "shop-2" })],
    ]);
  },
);
