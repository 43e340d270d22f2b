// What the coordinator keeps of traces: sums of calls that become minutes, blocks of spans that are listed as records, and both in their time.
import { describe, expect, it } from "vitest";
import { CALLS_HEADER_BYTES, type EngineFrame, FRAME_CALLS, FRAME_SPAN_BLOCK } from "../../../../src/core/protocol/coordinator-frame.ts";
import { CallEdges } from "../../../../src/domain/trace/call-edges.ts";
import { SpanBlockWriter } from "../../../../src/domain/trace/span-block-writer.ts";
import { checkpoint, DAY_MS, Rig, START_MS } from "../../../support/coordinator-rig.ts";

const MINUTE = START_MS / 60_000;
const name = (serviceId: string, tenant = "default") => ({ tenant, environment: "prod", serviceId });

/** Sums of a partition since one of its checkpoints: [caller, callee, minute, calls]. */
function calls(
  partition: number,
  since: number,
  edges: ReadonlyArray<readonly [string, string, number, number]>,
  tenant?: string,
): EngineFrame {
  const sums = new CallEdges(1_000);
  for (const [caller, callee, minute, count] of edges)
    sums.addEdge({
      caller: name(caller, tenant),
      callee: name(callee, tenant),
      minute,
      calls: count,
      errors: 1,
      microseconds: 1_000 * count,
      gapCalls: count,
      gapMicroseconds: 10 * count,
    });
  const encoded = sums.encode();
  const payload = new Uint8Array(CALLS_HEADER_BYTES + encoded.length);
  new DataView(payload.buffer).setUint32(0, partition, true);
  new DataView(payload.buffer).setUint32(4, since, true);
  payload.set(encoded, CALLS_HEADER_BYTES);
  return { kind: FRAME_CALLS, payload };
}

const sealed = (partition: number, generation: number) => checkpoint(partition, 1, [], 0, "state", { generation });

async function edges(rig: Rig, query: Record<string, string> = {}, tenant?: string): Promise<string[]> {
  const { body } = await rig.ask("callGraph", { since: new Date(START_MS - DAY_MS / 2).toISOString(), ...query }, {}, tenant);
  return body.edges.map(
    (e: Record<string, unknown>) => `${e["caller"]}>${e["callee"]} ${e["minute"] ?? ""} ${e["calls"]} ${e["errors"]} ${e["duration_ms"]}`,
  );
}

async function rounds(rig: Rig, count: number): Promise<void> {
  for (let round = 0; round < count; round++) {
    rig.monotonicMs += 60_000;
    await rig.drain();
  }
}

describe("the call graph", () => {
  it("holds each call once: sums that grow, are sealed, are merged, and begin anew", async () => {
    const rig = await Rig.open();
    await rig.take(calls(3, 0, [["web", "shop", MINUTE, 2]]), calls(9, 0, [["web", "shop", MINUTE, 1]]));
    await rig.take(
      calls(3, 0, [
        ["web", "shop", MINUTE, 5],
        ["shop", "db", MINUTE, 1],
      ]),
    );
    expect(await edges(rig)).toEqual(["web>shop  6 2 6", "shop>db  1 1 1"]);
    await rig.take(sealed(3, 1), calls(3, 1, [["web", "shop", MINUTE, 10]]));
    await rounds(rig, 2);
    expect(rig.counter("callsFolded")).toBe(2);
    expect(await edges(rig)).toEqual(["web>shop  16 3 16", "shop>db  1 1 1"]);
    await rig.take(sealed(3, 2), sealed(9, 1));
    await rounds(rig, 2);
    expect(rig.series.range("call_sums", { from: new Uint8Array(0), to: new Uint8Array(8).fill(255) })).toEqual([]);
    expect(await edges(rig, { resolution: "1m" })).toEqual([
      `web>shop ${new Date(START_MS).toISOString()} 16 3 16`,
      `shop>db ${new Date(START_MS).toISOString()} 1 1 1`,
    ]);
  });

  it("forgets at a start what no checkpoint has sealed: a replay makes it again", async () => {
    const rig = await Rig.open();
    await rig.take(
      calls(3, 0, [["web", "shop", MINUTE, 2]]),
      sealed(3, 1),
      calls(3, 1, [["web", "shop", MINUTE, 40]]),
      calls(7, 0, [["a", "b", MINUTE, 1]]),
    );
    const again = await Rig.open({ control: rig.control.contents, series: rig.series.contents });
    expect(await edges(again)).toEqual(["web>shop  2 1 2"]);
  });

  it("is asked for by service, environment, time and tenant", async () => {
    const rig = await Rig.open();
    await rig.take(
      calls(3, 0, [
        ["web", "shop", MINUTE - 5, 1],
        ["shop", "db", MINUTE, 2],
        ["x", "y", MINUTE, 3],
      ]),
      calls(4, 0, [["web", "shop", MINUTE, 7]], "acme"),
    );
    expect(await edges(rig, { service_id: "shop" })).toEqual(["shop>db  2 1 2", "web>shop  1 1 1"]);
    expect(await edges(rig, { environment: "" })).toEqual([]);
    expect(await edges(rig, { since: new Date(START_MS - 60_000).toISOString() })).toEqual(["x>y  3 1 3", "shop>db  2 1 2"]);
    expect(await edges(rig, {}, "acme")).toEqual(["web>shop  7 1 7"]);
    expect((await rig.ask("callGraph", { since: new Date(START_MS - 3 * DAY_MS).toISOString() })).status).toBe(400);
  });

  it("lets minutes go past their time", async () => {
    const rig = await Rig.open({ retentionMs: 2 * DAY_MS });
    await rig.take(calls(3, 0, [["web", "shop", MINUTE, 2]]), sealed(3, 1));
    await rounds(rig, 1);
    const minutes = () => rig.series.range("call_minutes", { from: new Uint8Array(0), to: new Uint8Array(8).fill(255) }).length;
    expect(minutes()).toBe(1);
    rig.nowMs += 3 * DAY_MS;
    await rounds(rig, 1);
    expect([minutes(), rig.counter("callsExpired")]).toEqual([0, 1]);
  });
});

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** A block of a service's spans: [trace, span, milliseconds behind the second]. */
function spanBlock(
  serviceId: string,
  second: number,
  serial: number,
  spans: ReadonlyArray<readonly [number, number, number]>,
): EngineFrame {
  const writer = new SpanBlockWriter(name(serviceId), { second, receivedMs: START_MS, serial, salt: 1, resource: '{"host":"h1"}' });
  for (const [trace, id, ms] of spans) {
    const ids = { traceId: hex(trace, 32), spanId: hex(id, 16), parentSpanId: id === 1 ? "" : hex(1, 16) };
    const rest = { name: "GET /", kind: 2, statusCode: 2, microseconds: 1_500, attributes: '{"http.route":"/"}' };
    writer.add({ ...ids, ...rest, endMicroseconds: second * 1_000_000 + ms * 1_000 });
  }
  return { kind: FRAME_SPAN_BLOCK, payload: writer.finish() };
}

describe("spans as records", () => {
  const SECOND = START_MS / 1_000 - 10;

  async function filled(): Promise<Rig> {
    const rig = await Rig.open();
    await rig.take(
      spanBlock("shop", SECOND, 0, [
        [1, 1, 10],
        [1, 2, 5],
        [2, 1, 7],
      ]),
      spanBlock("shop", SECOND, 1, [[1, 2, 5]]), // sent again
      spanBlock("bank", SECOND + 1, 2, [[1, 3, 900]]),
      spanBlock("shop", SECOND + 2, 3, [[3, 1, 0]]),
    );
    return rig;
  }

  it("are listed newest first, each once, by service, time and trace", async () => {
    const rig = await filled();
    const list = async (query: Record<string, string>) => {
      const { body } = await rig.ask("records", query);
      return [
        body.total,
        ...body.records.map(
          (r: { trace_id: string; attributes: { span_id: string } }) =>
            `${Number(`0x${r.trace_id}`)}/${Number(`0x${r.attributes.span_id}`)}`,
        ),
      ];
    };
    expect(await list({ type: "trace" })).toEqual([5, "3/1", "1/3", "1/1", "2/1", "1/2"]);
    expect(await list({ service_id: "shop" })).toEqual([4, "3/1", "1/1", "2/1", "1/2"]);
    expect(await list({ trace_id: hex(1, 32).toUpperCase() })).toEqual([3, "1/3", "1/1", "1/2"]);
    expect(
      await list({ since: new Date(SECOND * 1_000 + 6).toISOString(), until: new Date(SECOND * 1_000 + 1_900).toISOString() }),
    ).toEqual([2, "1/1", "2/1"]);
    expect(await list({ type: "log" })).toEqual([0]);
  });

  it("come page by page, and as the records that they are", async () => {
    const rig = await filled();
    const ids: string[] = [];
    for (let token: string | undefined; token !== ""; ) {
      const { body } = await rig.ask("records", { type: "trace", limit: "2", ...(token === undefined ? {} : { page_token: token }) });
      ids.push(...body.records.map((r: { record_id: string }) => r.record_id));
      expect(body.total).toBe(5);
      token = body.page_token as string;
    }
    expect(new Set(ids).size).toBe(5);
    const { body } = await rig.ask("records", { service_id: "bank" });
    expect(body.records).toEqual([
      {
        service_id: "bank",
        type: "trace",
        metric_name: "GET /",
        value: 1.5,
        trace_id: hex(1, 32),
        timestamp: new Date((SECOND + 1) * 1_000 + 900).toISOString(),
        attributes: {
          host: "h1",
          "http.route": "/",
          span_id: hex(3, 16),
          parent_span_id: hex(1, 16),
          span_kind: "server",
          status_code: "error",
        },
        environment: "prod",
        record_id: hex(1, 16) + hex(3, 16),
        received_at: new Date(START_MS).toISOString(),
      },
    ]);
  });

  it("go past their time", async () => {
    const rig = await filled();
    rig.nowMs += 31 * DAY_MS;
    await rounds(rig, 1);
    expect(rig.counter("recordsExpired")).toBe(6);
    expect((await rig.ask("records", { type: "trace" })).body.total).toBe(0);
    await rig.take(spanBlock("shop", SECOND, 4, [[1, 1, 10]]));
    expect(rig.counter("recordsDropped")).toBe(1);
  });
});
