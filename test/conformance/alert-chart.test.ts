// The picture of an alert: with a session, and by the address that chat is given (issue 50, point 2).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { FakeReceivers } from "../support/fake-receivers.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const bench = new ServerBench();
let receivers: FakeReceivers;
let server: ServerProcess;
let headers: Record<string, string>;

interface Told {
  readonly title: string;
  readonly picture: string;
}

/** Link and picture of the first page in chat. */
function told(): Told {
  const [attachment] = receivers.at("/slack/")[0]?.body.attachments ?? [];
  const [text, image] = attachment?.blocks ?? [];
  return { title: text?.text.text, picture: image?.image_url };
}

async function read(target: string, own: Record<string, string> = {}) {
  const response = await fetch(`${server.origin}${target}`, { headers: own });
  return { status: response.status, type: response.headers.get("content-type"), bytes: Buffer.from(await response.arrayBuffer()) };
}

beforeAll(async () => {
  receivers = await FakeReceivers.open();
  server = await bench.start({
    ENGINES: "1",
    READ_AUTH: "required",
    WATCHDOG_WARMUP_MINUTES: "0",
    CHAT_WEBHOOK_URL: `${receivers.origin}/slack/T/B/C`,
    PUBLIC_URL: "https://vedette.example",
    CHART_LINKS: "true",
  });
  headers = { authorization: `Bearer ${readFileSync(join(server.dataDir, "admin-token"), "utf8").trim()}` };
  const startMs = Date.now() - 240 * 10_000;
  const records = Array.from({ length: 240 }, (_, at) => ({
    service_id: "checkout",
    metric_name: "request.duration_ms",
    value: 100 + ((at * 7) % 5) + (at >= 230 ? 400 : 0),
    timestamp: new Date(startMs + at * 10_000).toISOString(),
  }));
  const response = await fetch(`${server.origin}/api/v1/telemetry/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(records),
  });
  expect(response.status).toBe(200);
  await vi.waitFor(() => expect(told().picture).toBeTruthy(), { timeout: PATIENCE_MS });
});
afterAll(async () => {
  receivers?.close();
  await bench.close();
});

describe("the picture of an alert", () => {
  it("comes without a session by the address in the message, whose link is the alert's page (A1)", async () => {
    const { title, picture } = told();
    const id = /https:\/\/vedette\.example\/#\/alert\/([0-9a-f]+)\|/.exec(title)?.[1];
    expect(picture.startsWith(`https://vedette.example/api/v1/alerts/${id}/chart.png?`)).toBe(true);
    const { status, type, bytes } = await read(picture.replace("https://vedette.example", ""));
    expect([status, type, bytes.subarray(1, 4).toString("latin1")]).toEqual([200, "image/png", "PNG"]);
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([640, 240]);
  });

  it("is refused with another signature, another end, another alert or none", async () => {
    const target = told().picture.replace("https://vedette.example", "");
    const odd = [
      target.replace(/signature=../, "signature=zz"),
      target.replace(/expires=\d/, "expires=9"),
      target.replace(/alerts\/[0-9a-f]{4}/, "alerts/0000"),
      target.replace(/tenant_id=[a-z]+/, "tenant_id=acme"),
    ];
    expect(await Promise.all(odd.map(async (one) => (await read(one)).status))).toEqual([403, 403, 403, 403]);
    expect((await read(target.replace(/\?.*/, ""))).status).toBe(401);
  });

  it("comes with a credential; of an alert that is not there it is 404", async () => {
    const target = told().picture.replace("https://vedette.example", "").replace(/\?.*/, "");
    expect(await read(target, headers)).toMatchObject({ status: 200, type: "image/png" });
    expect((await read("/api/v1/alerts/ffff/chart.png", headers)).status).toBe(404);
  });
});
