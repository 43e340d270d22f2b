import { describe, expect, it } from "vitest";
import { JsonRig, NOW_MS } from "../../../support/json-rig.ts";

const NOW = new Date(NOW_MS).toISOString();

/** A record as text, fields in the given order. */
function recordText(fields: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    service_id: "cart",
    metric_name: "latency",
    value: 1.5,
    timestamp: NOW,
    attributes: { region: "eu", az: 1 },
    ...fields,
  });
}

const batchOf = (...records: string[]) => Buffer.from(`[${records.join(",")}]`);

/** A rig that knows the stream of recordText(). */
function warmRig(): JsonRig {
  const rig = new JsonRig({ kernelReads: true });
  rig.take(batchOf(recordText()));
  expect(rig.handedOver).toBe(1);
  rig.handedOver = 0;
  return rig;
}

describe("records that the kernel stages by itself", () => {
  it.each([
    ["as it was first sent", recordText()],
    ["another value and time", recordText({ value: -0, timestamp: "2026-11-21 11:00:00.123456+01:00" })],
    [
      "another order of fields",
      `{"attributes":{"region":"eu","az":1},"timestamp":"${NOW}","value":2,"metric_name":"latency","service_id":"cart"}`,
    ],
    ["white space", JSON.stringify(JSON.parse(recordText()), null, 2)],
    ["type metric, an unknown field with anything inside, a trace", recordText({ type: "metric", unit: { a: [1, "x"] }, trace_id: "t" })],
    ["nulls for what may be absent", recordText({ type: null, trace_id: null })],
  ])("%s", (_, record) => {
    const rig = warmRig();
    const { rows, answer } = rig.take(batchOf(record, record));
    expect(answer.body).toBe('{"status":"ok","queued":2,"failed":0,"failures":[]}');
    expect(rows.flat()).toHaveLength(2);
    expect(rig.handedOver).toBe(0);
    expect(rig.kernel.keyTableEntries()).toBe(1);
  });

  it("no attributes, none at all and an empty object are one spelling", () => {
    const rig = new JsonRig({ kernelReads: true });
    rig.take(batchOf(recordText({ attributes: undefined })));
    rig.take(batchOf(recordText({ attributes: null }), recordText({ attributes: {} })));
    expect(rig.handedOver).toBe(1);
  });

  it("one record alone", () => {
    const rig = warmRig();
    expect(rig.take(Buffer.from(recordText()), { batch: false }).answer).toEqual({ status: 200, body: '{"status":"ok","queued":1}' });
    expect(rig.handedOver).toBe(0);
  });

  it("texts with escapes and outside ASCII in the stream's names, once they are known", () => {
    const rig = new JsonRig({ kernelReads: true });
    const record = recordText({ service_id: "Bestellung äöü", attributes: { path: "C:\\x\n", "😀": true } });
    const first = rig.take(batchOf(record));
    expect(rig.take(batchOf(record)).rows).toEqual(first.rows);
    expect(rig.handedOver).toBe(1);
  });
});

describe("records that the kernel hands over", () => {
  it.each([
    ["a repeated field, the last of which counts", recordText().replace("{", '{"value":9,')],
    ["attributes twice, the first of no account", recordText().replace("{", '{"attributes":{"a":1},')],
    ["attributes twice, null at last", recordText().replace(/}$/, ',"attributes":null}')],
    ["no value but null", recordText({ value: null })],
    ["a name with an escape", recordText().replace("value", "valu\\u0065")],
    ["an escape in a text that is not the stream's", recordText({ trace_id: "a\nb" })],
    ["another type", recordText({ type: "trace" })],
    ["a bare NaN for its value", recordText().replace("1.5", "NaN")],
    ["a bare -Infinity for its value", recordText().replace("1.5", "-Infinity")],
    ["a bare Infinity among its attributes", recordText().replace('"az":1', '"az":Infinity')],
    ["a number of more than 19 digits", recordText().replace("1.5", "1.50000000000000000000001")],
    ["the attributes in another order", recordText({ attributes: { az: 1, region: "eu" } })],
  ])("%s", (_, record) => {
    const rig = warmRig();
    const slow = new JsonRig({ kernelReads: false });
    slow.take(batchOf(recordText()));
    const body = batchOf(recordText(), record, recordText());
    const intake = rig.take(body);
    expect(intake).toEqual(slow.take(body));
    expect(intake.rows.flat().length).toBeGreaterThanOrEqual(2);
    expect(rig.handedOver).toBe(1);
  });

  it.each([
    ["2026-11-20T12:00:00Z", 0],
    ["2026-11-20T11:59:59.999Z", 1],
    ["2026-11-21T12:10:00Z", 0],
    ["2026-11-21T12:10:00.001Z", 1],
    [`2026-11-21T11:00:00.${"1".repeat(19)}Z`, 0],
    [`2026-11-21T11:00:00.${"1".repeat(20)}Z`, 1],
  ])("at the ends of the window and of what a time may be: %s", (timestamp, handedOver) => {
    const rig = warmRig();
    const { rows } = rig.take(batchOf(recordText({ timestamp })));
    expect(rows.flat()).toHaveLength(1 - handedOver);
    expect(rig.handedOver).toBe(handedOver);
  });

  it("refused ones keep their place, their neighbours are stored, and a refused spelling stays unknown", () => {
    const rig = warmRig();
    const half = recordText({ service_id: "x" }).replace('"x"', '"\\ud800"');
    const late = recordText({ timestamp: "2026-11-20T11:59:59.999Z" });
    for (let round = 0; round < 2; round++) {
      const { answer, rows, frames } = rig.take(batchOf(recordText(), half, "7", late, recordText({ service_id: "" })));
      const { queued, failures } = JSON.parse(answer.body as string) as {
        queued: number;
        failures: Array<{ index: number; error: string }>;
      };
      expect(queued).toBe(1);
      expect(failures.map(({ index, error }) => [index, error])).toEqual([
        [1, "invalid_record"],
        [2, "invalid_record"],
        [3, "timestamp_too_old"],
        [4, "missing_service_id"],
      ]);
      expect(rows.flat()).toHaveLength(1);
      expect(frames).toHaveLength(4);
    }
  });

  it("a stream over the tenant's limit is asked for again each time", () => {
    const rig = new JsonRig({ kernelReads: true, seriesLimit: 1 });
    rig.take(batchOf(recordText()));
    for (let round = 1; round <= 2; round++) {
      expect(rig.take(batchOf(recordText(), recordText({ service_id: "other" }))).answer.body).toContain("series_limit_exceeded");
      expect(rig.handedOver).toBe(1 + round);
    }
  });
});

describe("bodies that the kernel does not take", () => {
  it.each([
    ["an end too soon", `[${recordText()}`],
    ["something behind the end", `[${recordText()}] x`],
    ["no array", recordText()],
    ["a byte-order mark", `\ufeff[${recordText()}]`],
    ["65 levels", `[${recordText()},${"[".repeat(64)}${"]".repeat(64)}]`],
  ])("%s", (_, text) => {
    const rig = warmRig();
    const expected = new JsonRig({ kernelReads: false });
    expected.take(batchOf(recordText()));
    expect(rig.take(Buffer.from(text))).toEqual(expected.take(Buffer.from(text)));
    expect(rig.oddBodies).toBe(1);
  });
});
