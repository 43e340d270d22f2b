/** Mail through a real OpenSMTPD into a maildir: a page and its end, as one conversation; an address that it refuses is told instead through the notifier's default. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { canRunOpenSmtpd, OpenSmtpdPeer } from "../support/opensmtpd-peer.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench } from "../support/server-process.ts";

const installed = canRunOpenSmtpd();
if (!installed)
  process.stderr.write("opensmtpd.test.ts is skipped: opensmtpd is not installed (apt-get install opensmtpd), or this is not root\n");

// biome-ignore lint/suspicious/noExplicitAny: answers of all shapes
type Json = any;

const header = (mail: string, name: string) => new RegExp(`^${name}: ?(.*)$`, "im").exec(mail)?.[1]?.trim() ?? "";

describe.skipIf(!installed)("a real OpenSMTPD", () => {
  const bench = new ServerBench();
  const peer = new OpenSmtpdPeer();
  afterAll(async () => {
    await bench.close();
    await peer.close();
  });

  it("delivers a page and its end to a maildir, and what it refuses goes to the default address", async () => {
    await peer.start("ops@example.org");
    const folder = bench.dataFolder();
    const server = await bench.start({
      ENGINES: "1",
      DATA_DIR: folder,
      SMTP_URL: `smtp://127.0.0.1:${peer.port}`,
      SMTP_FROM: "Vedette <vedette@example.org>",
      EMAIL_DEFAULT_TO: "ops@example.org",
    });
    const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
    const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
      const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      return (await fetch(`${server.origin}/api/v1${path}`, { method, headers, ...sent })).json();
    };
    const declare = (service: string) =>
      call("POST", "/anomalies", { service_id: service, severity: "high", explanation: "it is down: ünïcode" });
    const arrive = (count: number) => expect.poll(() => peer.mails().length, { timeout: PATIENCE_MS }).toBe(count);

    const { anomaly_id, alert_id } = await declare("cart");
    await arrive(1);
    await call("PATCH", `/anomalies/${anomaly_id}`, { resolved: true });
    await arrive(2);
    const mailOf = (subject: string) =>
      peer.mails().find((mail) => header(mail, "Subject") === subject) ?? expect.fail(`no mail: ${subject}`); // dates are whole seconds
    const page = mailOf("[Vedette] Firing: high, cart, service.manual");
    const end = mailOf("[Vedette] Resolved: high, cart, service.manual");
    expect([header(page, "To"), header(page, "From")]).toEqual(["ops@example.org", "Vedette <vedette@example.org>"]);
    const ids = [page, end].map((mail) => header(mail, "Message-ID"));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^<[0-9a-f]{32}@example\.org>$/);
    expect(header(page, "References")).toBe(header(end, "References"));
    expect(page).toContain(`Alert: ${alert_id}`);

    const rule = { name: "typo", priority: 1, service_pattern: "shop", channels: ["email:nobody-here@example.org"] };
    await call("POST", "/routing/rules", rule);
    const refused = await declare("shop");
    await arrive(3);
    const told = async () =>
      (await call("GET", `/alerts/${refused.alert_id}`)).deliveries.map(({ channel, state, fallback }: Json) => [channel, state, fallback]);
    await expect.poll(told, { timeout: PATIENCE_MS }).toEqual(
      expect.arrayContaining([
        [rule.channels[0], "exhausted", false],
        [expect.stringContaining("email"), "delivered", true],
      ]),
    );
    const letters = await call("GET", "/dlq?reason=channel_exhausted");
    expect(letters.total).toBe(1);
    await server.stop();
  });
});
