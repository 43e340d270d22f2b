import { describe, expect, it } from "vitest";
import { METADATA_TYPE_HOLD_MS, METRIC_METADATA_MAX } from "../../../../src/core/config/metric-limits.ts";
import { FLAG_COUNTER } from "../../../../src/core/layout/stream-record.ts";
import { FRAME_METADATA, type MetricMetadataEnvelope } from "../../../../src/core/protocol/coordinator-frame.ts";
import { metadataMessages } from "../../../../src/domain/remote-write/metadata-messages.ts";
import { MetadataBook } from "../../../../src/domain/series/metadata-book.ts";
import { isName } from "../../../../src/domain/series/name-rule.ts";
import { Rig } from "../../../support/coordinator-rig.ts";
import { bytesField, varintField } from "../../../support/remote-write-body.ts";

const reported = (
  metricName: string,
  type: MetricMetadataEnvelope["type"],
  more: Partial<MetricMetadataEnvelope> = {},
): MetricMetadataEnvelope => ({
  tenant: "default",
  metricName,
  type,
  unit: "",
  help: "",
  ...more,
});
const counts = (book: MetadataBook, name: string, tenant = "default") => (book.flagsOf(tenant, name) & FLAG_COUNTER) !== 0;

describe("metadata of metrics", () => {
  it("decide whether series count; where they say nothing of it, the suffix does", () => {
    const book = new MetadataBook();
    const types: ReadonlyArray<readonly [string, MetricMetadataEnvelope["type"], boolean]> = [
      ["requests", "counter", true],
      ["jobs_total", "gauge", false],
      ["x_total", "unknown", true],
      ["size_sum", "summary", true],
      ["latency_bucket", "histogram", true],
      ["up", "stateset", false],
      ["build_info", "info", false],
      ["requests_created", "counter", false],
    ];
    for (const [name, type, expected] of types) {
      expect(book.learn(reported(name, type), 0)).toBe("new");
      expect([name, counts(book, name)]).toEqual([name, expected]);
    }
    expect(counts(book, "jobs_total", "other")).toBe(true);
    expect(counts(book, "depth_bucket")).toBe(true);
    book.learn(reported("depth", "gaugehistogram"), 0);
    expect([counts(book, "depth_bucket"), counts(book, "depth_count")]).toEqual([false, true]);
    expect([...book.correctedKinds].map(({ seriesName }) => seriesName).sort()).toEqual(["depth_bucket", "jobs_total", "requests"]);
  });

  it("are new once, and a type is not changed again within an hour", () => {
    const book = new MetadataBook();
    expect([book.learn(reported("a", "gauge"), 0), book.learn(reported("a", "gauge"), 1)]).toEqual(["new", "known"]);
    expect(book.learn(reported("a", "gauge", { help: "H" }), 2)).toBe("new");
    expect(book.learn(reported("a", "counter", { help: "H" }), 3)).toBe("known");
    const { version } = book;
    expect(book.learn(reported("a", "counter", { help: "H" }), METADATA_TYPE_HOLD_MS)).toBe("new");
    expect([book.version > version, counts(book, "a")]).toEqual([true, true]);
    // What is stored is taken as it is.
    book.take([reported("a", "gauge")]);
    expect(counts(book, "a")).toBe(false);
  });

  it("that were not logged are forgotten, so that they are told again; the book is bounded", () => {
    const book = new MetadataBook();
    book.learn(reported("kept", "gauge"), 0);
    book.saved();
    book.learn(reported("lost", "gauge"), 0);
    book.forgetUnsaved();
    expect([book.learn(reported("kept", "gauge"), 1), book.learn(reported("lost", "gauge"), 1)]).toEqual(["known", "new"]);
    for (let i = 2; i < METRIC_METADATA_MAX; i++) book.learn(reported(`m${i}`, "gauge"), 0);
    expect([book.learn(reported("more", "gauge"), 0), book.learn(reported("kept", "gauge", { unit: "s" }), 0)]).toEqual(["no-room", "new"]);
  });

  it("are read from messages of 1.0, the damaged ones passed over", () => {
    const text = (value: string) => new TextEncoder().encode(value);
    const message = (fields: number[]) => bytesField(3, fields);
    const body = Uint8Array.from([
      ...message([...varintField(1, 2), ...bytesField(2, text("a")), ...bytesField(4, text("Help.")), ...bytesField(5, text("s"))]),
      ...message(bytesField(4, text("nameless"))),
      ...message([0x12, 9]),
      ...message([...bytesField(2, [0xff]), ...varintField(1, 1)]),
      ...bytesField(1, []),
      ...message([...varintField(1, 99), ...bytesField(2, text("b")), ...bytesField(4, [0xff])]),
    ]);
    expect([...metadataMessages(body)]).toEqual([
      { metricName: "a", type: "gauge", help: "Help.", unit: "s" },
      { metricName: expect.toSatisfy((name: string) => !isName(name)), type: "counter", help: "", unit: "" },
      { metricName: "b", type: "unknown", help: "\ufffd", unit: "" },
    ]);
  });

  it("are stored, told to every engine, and there after a restart", async () => {
    const rig = await Rig.open({ engines: 2 });
    const metadata = reported("depth_total", "gauge", { unit: "items" });
    await rig.take({ kind: FRAME_METADATA, payload: new TextEncoder().encode(JSON.stringify(metadata)) });
    expect(rig.engines.map((engine) => engine.reported)).toEqual([
      [{ type: "metric-metadata", metadata: [metadata] }],
      [{ type: "metric-metadata", metadata: [metadata] }],
    ]);
    expect(rig.coordinator.loadMetadata()).toEqual([metadata]);
    const next = await Rig.open({ control: rig.control.contents, series: rig.series.contents });
    expect(next.coordinator.loadMetadata()).toEqual([metadata]);
  });
});
