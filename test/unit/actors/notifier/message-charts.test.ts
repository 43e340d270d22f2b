import { describe, expect, it } from "vitest";
import { type ChartWanted, MessageCharts } from "../../../../src/actors/notifier/message-charts.ts";
import { CHARTS_PER_MESSAGE_MAX } from "../../../../src/core/config/notification-limits.ts";
import type { AlertMessage } from "../../../../src/domain/notification/alert-message.ts";

const PICTURE = JSON.stringify({
  fromMs: 0,
  toMs: 60_000,
  points: [{ atMs: 30_000, value: 7, lower: 5, upper: 9 }],
  marks: [],
});

function message(alertId: string, kind: AlertMessage["kind"] = "opened"): AlertMessage {
  return { alertId, kind, tenant: "acme" } as AlertMessage;
}

/** Charts whose questions are answered by what `bodyOf` gives. */
function chartsOver(bodyOf: (alertId: string) => string | null) {
  const wanted: ChartWanted[] = [];
  const charts: MessageCharts = new MessageCharts((question) => {
    wanted.push(question);
    charts.take({ type: "chart-found", id: question.id, body: bodyOf(question.alertId) });
  });
  return { charts, wanted };
}

describe("pictures of messages", () => {
  it("are drawn of what is found, and left out where nothing is", async () => {
    const { charts, wanted } = chartsOver((id) => (id === "a" ? PICTURE : null));
    const files = await charts.files([message("a"), message("b"), message("c", "acknowledged")]);
    expect([...files.keys()]).toEqual(["a"]);
    expect(files.get("a")?.subarray(1, 4).toString("latin1")).toBe("PNG");
    expect(wanted.map(({ tenant, alertId }) => [tenant, alertId])).toEqual([
      ["acme", "a"],
      ["acme", "b"],
    ]);
  });

  it("have an address in chat only where there is something to draw: one that cannot be fetched has the message refused (point 2)", async () => {
    const { charts } = chartsOver((id) => (id === "a" ? PICTURE : null));
    expect([...(await charts.drawable([message("a"), message("b"), message("c", "cause")]))]).toEqual(["a"]);
  });

  it("are a few of one mail", async () => {
    const { charts } = chartsOver(() => PICTURE);
    const files = await charts.files(Array.from({ length: 8 }, (_, i) => message(String(i))));
    expect(files.size).toBe(CHARTS_PER_MESSAGE_MAX);
  });
});
