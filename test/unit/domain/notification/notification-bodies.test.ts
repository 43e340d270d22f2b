import { describe, expect, it } from "vitest";
import type { AlertMessage } from "../../../../src/domain/notification/alert-message.ts";
import { chatBody } from "../../../../src/domain/notification/chat-body.ts";
import { emailMessage } from "../../../../src/domain/notification/email-message.ts";
import { oncallRequest } from "../../../../src/domain/notification/oncall-request.ts";
import { pagerEvent } from "../../../../src/domain/notification/pager-event.ts";

const MESSAGE: AlertMessage = {
  kind: "opened",
  tenant: "default",
  alertId: "0123456789abcdef0123456789abcdef",
  severity: "high",
  serviceId: "checkout",
  environment: "production",
  source: "metric",
  metricName: "latency_ms",
  explanation: "latency_ms was 400 & <rising>",
  services: [],
  startedAtMs: Date.UTC(2026, 0, 31, 12),
  atMs: Date.UTC(2026, 0, 31, 12),
  resolvedAtMs: null,
  acknowledgedBy: null,
  team: "payments",
  cause: null,
  url: "https://vedette.example/alerts/0123",
  both: false,
};

describe("chat", () => {
  it("shows the picture of a message where it has an address, and else none", () => {
    const [own] = chatBody([MESSAGE], ({ alertId }) => `https://vedette.example/${alertId}.png`).attachments;
    expect(own?.blocks[1]).toMatchObject({ type: "image", image_url: `https://vedette.example/${MESSAGE.alertId}.png` });
    expect(chatBody([MESSAGE]).attachments[0]?.blocks.length).toBe(1);
  });

  it("says the state first, then severity and service, and escapes Slack's three signs", () => {
    const body = chatBody([MESSAGE]);
    expect(body.text).toBe("Firing: high, checkout (production), latency_ms");
    expect(body.attachments[0]?.blocks[0]?.text.text).toContain("latency_ms was 400 &amp; &lt;rising&gt;");
    expect(chatBody([{ ...MESSAGE, kind: "resolved" }]).text).toMatch(/^Resolved: /);
    expect(JSON.stringify(chatBody([{ ...MESSAGE, kind: "resolved", ending: "resolved by ada" }]))).toContain("Resolved by ada");
    expect(chatBody([{ ...MESSAGE, kind: "resolved", both: true }]).text).toMatch(/^Fired and resolved: /);
    expect(chatBody([{ ...MESSAGE, kind: "cause", cause: "a full disk" }]).text).toMatch(/^Cause: /);
  });

  it("says since when, and at the end from when to when; to on-call too", () => {
    const lineOf = (more: Partial<AlertMessage>) =>
      chatBody([{ ...MESSAGE, ...more }])
        .attachments[0]?.blocks[0]?.text.text.split("\n")
        .at(-1);
    expect(lineOf({})).toBe("Since 2026-01-31 12:00:00 UTC");
    expect(lineOf({ kind: "resolved", resolvedAtMs: MESSAGE.startedAtMs + 901_000 })).toBe(
      "From 2026-01-31 12:00:00 UTC to 2026-01-31 12:15:01 UTC",
    );
    expect(JSON.parse(oncallRequest(MESSAGE, "sre").body).description).toContain("\nSince 2026-01-31 12:00:00 UTC");
  });

  it("tells an update, a higher severity and a repeat from a page that nobody knows", () => {
    const words = (["opened", "raised", "updated", "reopened", "renewed"] as const).map(
      (kind) => chatBody([{ ...MESSAGE, kind }]).text.split(":")[0],
    );
    expect(words).toEqual(["Firing", "Firing, worse", "Firing, update", "Firing again", "Still firing"]);
  });

  it("counts one more service as one", () => {
    expect(chatBody([{ ...MESSAGE, services: ["checkout", "cart"] }]).text).toContain("and 1 more service, latency_ms");
    expect(chatBody([{ ...MESSAGE, services: ["checkout", "cart", "web"] }]).text).toContain("and 2 more services, latency_ms");
  });

  it("keeps to 3,000 characters whatever is to be said, and cuts no escape in two", () => {
    const explanation = "<&>".repeat(5_000);
    const text = chatBody([{ ...MESSAGE, explanation, cause: explanation }]).attachments[0]?.blocks[0]?.text.text as string;
    expect(text.length).toBeLessThanOrEqual(3_000);
    expect(text.replace(/&(amp|lt|gt);/g, "")).not.toContain("&");
  });

  it.each([
    ["ampersands", `a${"&".repeat(1_000)}`],
    ["brackets", "<x>".repeat(340)],
    ["letters", "x".repeat(1_024)],
  ])("keeps to 3,000 characters with whole escapes under a name of %s", (_, serviceId) => {
    const long = { ...MESSAGE, serviceId, explanation: "é<&>".repeat(200), cause: "&".repeat(2_000), services: Array(40).fill(serviceId) };
    for (const url of [long.url, null, `https://vedette.example/${"p".repeat(4_000)}`]) {
      const { text, attachments } = chatBody([{ ...long, url }, long]);
      const shown = attachments.flatMap(({ fallback, blocks }) => [fallback, blocks[0].text.text]);
      for (const each of [text, ...shown]) {
        expect(each.length).toBeLessThanOrEqual(3_000);
        expect(each.replace(/&(amp|lt|gt);/g, "")).not.toContain("&");
      }
      expect(shown[1]).toContain("Cause: &amp;");
    }
  });

  it("of a drill says so first, in chat, mail, pager and on-call (B13)", () => {
    const drill = { ...MESSAGE, serviceId: "vedette.drill" };
    expect(chatBody([drill]).text).toMatch(/^Fire drill, nothing has happened\. Firing: /);
    expect(emailMessage([drill], "a@b.example", "b.example").subject).toMatch(/Fire drill/);
    expect(JSON.parse(pagerEvent(drill, "k")).payload.summary).toMatch(/^Fire drill/);
    expect(JSON.parse(oncallRequest(drill, "sre").body).message).toMatch(/^Fire drill/);
  });

  it("joins several", () => {
    const body = chatBody([MESSAGE, { ...MESSAGE, serviceId: "cart" }]);
    expect(body.text).toContain("(and 1 more)");
    expect(body.attachments).toHaveLength(2);
  });
});

describe("names and texts that senders of telemetry choose", () => {
  const FORGED = "cart\r\nResolved: high\u2028x\u0085\u001b[31m\u202egro.live\u2066 end";
  const message = { ...MESSAGE, serviceId: FORGED, metricName: FORGED, environment: FORGED, explanation: FORGED, cause: FORGED };
  const ODD = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

  it("begin no line, and turn no direction, in any message", () => {
    const { text, attachments } = chatBody([{ ...message, services: [FORGED, FORGED] }]);
    const chat = attachments[0]?.blocks[0]?.text.text.split("\n") ?? [];
    const mail = emailMessage([message], "a@b.example", "b.example");
    const oncall = JSON.parse(oncallRequest(message, "sre").body);
    const pager = JSON.parse(pagerEvent(message, "k"));
    for (const line of [text, ...chat, mail.subject, ...mail.text.split("\n"), oncall.message, ...oncall.description.split("\n")]) {
      expect(line).not.toMatch(ODD);
      expect(line).not.toMatch(/^(Resolved: high|gro\.live)/);
    }
    expect(JSON.stringify(pager)).not.toMatch(/\\[nru]|[\u2028\u202e]/);
    expect(chat).toHaveLength(5);
  });

  it("leave the lines of a runbook's own text", () => {
    const { attachments } = chatBody([{ ...MESSAGE, kind: "notice", explanation: "first\nsecond\u202e" }]);
    expect(attachments[0]?.blocks[0]?.text.text).toContain("first\nsecond ");
  });
});

describe("the pager", () => {
  const event = (more: Partial<AlertMessage>) => JSON.parse(pagerEvent({ ...MESSAGE, ...more }, "k".repeat(32)));

  it("is asked under the identity of the alert", () => {
    expect(event({})).toMatchObject({
      event_action: "trigger",
      dedup_key: MESSAGE.alertId,
      payload: { severity: "critical", source: "checkout", component: "latency_ms", group: "payments", class: "metric" },
    });
    expect(event({ kind: "acknowledged" }).event_action).toBe("acknowledge");
    expect(event({ kind: "resolved" })).toEqual({ routing_key: "k".repeat(32), event_action: "resolve", dedup_key: MESSAGE.alertId });
    expect(event({ severity: "medium" }).payload.severity).toBe("error");
  });

  it("gets at most 1,024 characters of summary and 512 KB", () => {
    const large = event({ explanation: "x".repeat(600_000) });
    expect(large.payload.summary.length).toBe(1_024);
    expect(large.payload.custom_details).toEqual({ left_out: "the event was larger than 512 KB" });
  });
});

describe("the on-call service", () => {
  it("is asked by alias", () => {
    const { path, body } = oncallRequest({ ...MESSAGE, serviceId: "s".repeat(500) }, "payments");
    expect(path).toBe("/v2/alerts");
    expect(JSON.parse(body)).toMatchObject({ alias: MESSAGE.alertId, priority: "P1", responders: [{ type: "team", name: "payments" }] });
    expect(JSON.parse(body).message.length).toBeLessThanOrEqual(130);
    expect(oncallRequest({ ...MESSAGE, kind: "resolved" }, "payments").path).toBe(
      `/v2/alerts/${MESSAGE.alertId}/close?identifierType=alias`,
    );
  });
});

describe("a mail", () => {
  it("has an identity of alert, state and address, and no header from a name", () => {
    const mail = emailMessage([{ ...MESSAGE, serviceId: "a\r\nBcc: all@example.com" }], "ops@example.com", "example.com");
    expect(mail.subject).not.toMatch(/[\r\n]/);
    expect(mail.messageId).toMatch(/^<[0-9a-f]{32}@example\.com>$/);
    expect(mail.references).toMatch(/^<[0-9a-f]{32}@example\.com>$/);
    expect(emailMessage([MESSAGE], "ops@example.com", "example.com").messageId).toBe(
      emailMessage([MESSAGE], "ops@example.com", "example.com").messageId,
    );
    const ended = emailMessage([{ ...MESSAGE, kind: "resolved" }], "ops@example.com", "example.com");
    expect(ended.messageId).not.toBe(emailMessage([MESSAGE], "ops@example.com", "example.com").messageId);
    expect(ended.references).toBe(emailMessage([MESSAGE], "ops@example.com", "example.com").references);
  });
});
