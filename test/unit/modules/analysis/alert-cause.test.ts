// An alert with anomalies of two incidents has one cause: its answer names it, and so do its messages.
import { describe, expect, it } from "vitest";
import { CONTROL_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { alertCauseView } from "../../../../src/modules/analysis/alert-cause.ts";
import { AnalysisBook } from "../../../../src/modules/analysis/analysis-book.ts";
import { type RcaReport, reportIdOf } from "../../../../src/modules/analysis/report-row.ts";
import { MemoryStore } from "../../../support/memory-store.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";
import { reportOf } from "../../../support/webhook-world.ts";

/** An alert of two anomalies, each with a report of its own; the second is the higher one. */
async function alertOfTwo(reports: Readonly<Record<string, Partial<RcaReport> & { readonly isEnough: boolean }>>) {
  const rig = new PagingRig();
  const first = rig.fire({ anomalyId: "first", metricName: "errors", z: 6 });
  rig.fire({ anomalyId: "second", metricName: "latency_ms", z: 9, atMs: START + 1 });
  rig.fire({ anomalyId: "third", metricName: "cpu_percent", z: 5, atMs: START + 2 });
  const control = new MemoryStore({ tables: CONTROL_TABLES });
  const analyses = new AnalysisBook(control);
  for (const [id, { isEnough, ...more }] of Object.entries(reports)) {
    const report = { ...reportOf(id, isEnough ? "infrastructure" : null, true, START, 1), createdAtMs: START, ...more };
    await control.commit(analyses.reports.operations(report));
    analyses.reports.put(report);
  }
  const cause = () => alertCauseView({ analyses }, rig.memory.alert(first.alertId as string) ?? expect.unreachable());
  return { rig, first, cause };
}

const idOf = (anomalyId: string) => reportIdOf("default", anomalyId);

describe("the cause of an alert of two incidents", () => {
  it("is that of what stands for it, whichever came first or was revised last", async () => {
    const { cause } = await alertOfTwo({ first: { isEnough: true, createdAtMs: START + 5, revision: 4 }, second: { isEnough: true } });
    expect(cause()).toMatchObject({ report_id: idOf("second"), anomaly_id: "second", enough: true, category: "infrastructure" });
  });
  it("is the newest that names one, where its own does not", async () => {
    const { cause } = await alertOfTwo({
      first: { isEnough: true },
      second: { isEnough: false, createdAtMs: START + 9 },
      third: { isEnough: true, createdAtMs: START + 5 },
    });
    expect(cause()).toMatchObject({ anomaly_id: "third", enough: true });
  });
  it("says that there is not enough evidence, or nothing before an analysis", async () => {
    expect((await alertOfTwo({ second: { isEnough: false } })).cause()).toMatchObject({ anomaly_id: "second", enough: false });
    expect((await alertOfTwo({})).cause()).toBeNull();
  });
  it("goes with what is open", async () => {
    const { rig, cause } = await alertOfTwo({ first: { isEnough: true }, second: { isEnough: true } });
    const second = rig.fire({ anomalyId: "second", metricName: "latency_ms", z: 9, kind: "raised", atMs: START + 3 });
    rig.end(second, START + 4);
    expect(cause()).toMatchObject({ anomaly_id: "first" });
  });
});
