/** Logs and events that come again, and such that only look like it, in every encoding, against what a sender means: a repeat is a request that is sent again, or an item of another request with all of it the same. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EQUAL_RECORDS_KNOWN_MAX } from "../../../../src/core/config/body-limits.ts";
import { FRAME_RECORD } from "../../../../src/core/protocol/coordinator-frame.ts";
import { JsonRig, NOW_MS } from "../../../support/json-rig.ts";
import { OTLP_NOW_MS, OtlpRig } from "../../../support/otlp-rig.ts";
import { encodeRequest } from "../../../support/otlp-schema.ts";

interface Line {
  readonly body: string;
  readonly user: string;
  /** Nanoseconds behind a second; null for none. */
  readonly time: number | null;
}

interface Sent {
  readonly lines: readonly Line[];
  readonly key: string;
}

const line: fc.Arbitrary<Line> = fc.record({
  body: fc.constantFrom("connection refused", "timeout"),
  user: fc.constantFrom("u1", "u2"),
  time: fc.constantFrom(0, 1, 10_000, 999_999, 1_000_000, 1_000_001),
});
const timeless: fc.Arbitrary<Line> = line.map((each) => ({ ...each, time: null }));
const sent = (lines: fc.Arbitrary<Line>): fc.Arbitrary<Sent> =>
  fc.record({ lines: fc.array(lines, { minLength: 1, maxLength: 12 }), key: fc.constantFrom("", "", "k") });
/** Requests, each with a key of its own or none, some of them again. */
const history = (lines: fc.Arbitrary<Line>): fc.Arbitrary<readonly Sent[]> =>
  fc.tuple(fc.array(sent(lines), { minLength: 1, maxLength: 5 }), fc.array(fc.nat(), { maxLength: 4 })).map(([given, again]) => {
    const requests = given.map(({ lines: own, key }, place) => ({ lines: own, key: key && `${key}${place}` }));
    return [...requests, ...again.map((place) => requests[place % requests.length] as Sent)];
  });

/** Slow twin: what makes each line that one, in the order in which they are sent. */
function meanings(requests: readonly Sent[]): string[] {
  return requests.flatMap(({ lines, key }, request) =>
    lines.map((each, place) => {
      if (key !== "") return JSON.stringify([key, place]);
      if (each.time === null) return JSON.stringify([request, place]);
      const content = JSON.stringify(each);
      return JSON.stringify([content, lines.slice(0, place).filter((before) => JSON.stringify(before) === content).length]);
    }),
  );
}

const records = (frames: ReadonlyArray<{ frame: number; envelope: Record<string, unknown> }>) =>
  frames.filter(({ frame }) => frame === FRAME_RECORD).map(({ envelope }) => `${envelope.timeMs} ${envelope.id}`);

function otlpRequest(lines: readonly Line[], isObserved: boolean): object {
  const base = BigInt(Math.floor(OTLP_NOW_MS / 1000)) * 1_000_000_000n;
  const logRecords = lines.map(({ body, user, time }) => ({
    ...(time === null ? {} : { [isObserved ? "observedTimeUnixNano" : "timeUnixNano"]: String(base + BigInt(time)) }),
    body: { stringValue: body },
    attributes: [{ key: "user", value: { stringValue: user } }],
  }));
  return { resourceLogs: [{ resource: { attributes: [] }, scopeLogs: [{ logRecords }] }] };
}

/** Each request comes a while after the one before. */
let wallMs = OTLP_NOW_MS;
type Sender = (rigs: { otlp: OtlpRig; json: JsonRig }, request: Sent) => string[];
const otlp =
  (encoding: "json" | "protobuf", isObserved: boolean): Sender =>
  (rigs, { lines, key }) => {
    const request = otlpRequest(lines, isObserved);
    const bytes = encoding === "json" ? Buffer.from(JSON.stringify(request)) : Buffer.from(encodeRequest("logs", request));
    return records(rigs.otlp.take(bytes, "logs", encoding, { idempotencyKey: key, wallMs }).frames);
  };
const json =
  (type: "log" | "event"): Sender =>
  (rigs, { lines, key }) => {
    const second = new Date(NOW_MS).toISOString().slice(0, 19);
    const batch = lines.map(({ body, user, time }) => ({
      service_id: "s",
      type,
      body,
      timestamp: `${second}.${String(time).padStart(9, "0")}Z`,
      attributes: { user },
    }));
    const { frames } = rigs.json.take(Buffer.from(JSON.stringify(batch)), { idempotencyKey: key });
    return records(frames.map((text) => ({ frame: Number.parseInt(text, 10), envelope: JSON.parse(text.slice(text.indexOf(" "))) })));
  };

const timed: ReadonlyArray<readonly [string, Sender]> = [
  ["OTLP JSON", otlp("json", false)],
  ["OTLP protobuf", otlp("protobuf", false)],
  ["OTLP protobuf by the observed time", otlp("protobuf", true)],
  ["JSON logs", json("log")],
  ["JSON events", json("event")],
];
const untimed: ReadonlyArray<readonly [string, Sender]> = [
  ["OTLP JSON", otlp("json", false)],
  ["OTLP protobuf", otlp("protobuf", false)],
];

let runs = 0;

/** Two lines are one record exactly where they mean the same one. */
function agree(send: Sender, requests: readonly Sent[], rigs: { otlp: OtlpRig; json: JsonRig }): void {
  const run = ` ${runs++}`;
  const ids = requests.flatMap(({ lines, key }) => {
    wallMs += 1_500;
    return send(rigs, { lines, key: key && key + run });
  });
  const firstOf = (texts: readonly string[]) => texts.map((text) => texts.indexOf(text));
  expect(firstOf(ids)).toEqual(firstOf(meanings(requests)));
}

describe("logs that come again", () => {
  const rigs = { otlp: new OtlpRig(), json: new JsonRig({ kernelReads: true }) };

  it.each(timed)("%s: as many are stored as were sent, and a repeat adds none", (_name, send) => {
    fc.assert(
      fc.property(history(line), (requests) => agree(send, requests, rigs)),
      { numRuns: 40 },
    );
  });

  it.each(untimed)("%s: without a time only the Idempotency-Key says what is a repeat", (_name, send) => {
    fc.assert(
      fc.property(history(fc.oneof(line, timeless)), (requests) => agree(send, requests, rigs)),
      { numRuns: 40 },
    );
  });

  it.each(timed)("%s: a long request is the same in any number of units, on another engine, under a key or without", (_name, send) => {
    const lines = Array.from({ length: 2_000 }, (_, i) => ({ body: "timeout", user: `u${i % 3}`, time: i % 7 }));
    for (const key of ["", "k"]) {
      const ids = send(rigs, { lines, key });
      expect(new Set(ids).size).toBe(lines.length);
      const others = { otlp: new OtlpRig(), json: new JsonRig({ kernelReads: true }) };
      wallMs += 1_500;
      send(others, { lines: lines.slice(1, 20), key: "" });
      expect(send(others, { lines, key })).toEqual(ids);
    }
  });

  it.each(timed)(
    "%s: a burst of equal lines that is cut within a millisecond is whole, and adds none when it comes again",
    (_name, send) => {
      const cut = fc.array(fc.integer({ min: 130, max: 160 }), { minLength: 2, maxLength: 4 });
      fc.assert(
        fc.property(cut, fc.integer({ min: 1, max: 49 }), (sizes, perMillisecond) => {
          const fresh = { otlp: new OtlpRig(), json: new JsonRig({ kernelReads: true }) };
          let count = 0;
          const parts = sizes.map((size) =>
            Array.from({ length: size }, () => ({ body: "timeout", user: "u1", time: Math.floor(count++ / perMillisecond) * 1_000_000 })),
          );
          const ids = parts.map((lines) => send(fresh, { lines, key: "" }));
          expect(new Set(ids.flat()).size).toBe(count);
          wallMs += 1_500;
          expect(parts.map((lines) => send(fresh, { lines, key: "" }))).toEqual(ids);
        }),
        { numRuns: 10 },
      );
    },
  );

  it("keeps all of a request of more contents than are counted, and knows it when it comes again", () => {
    const contents = Array.from({ length: EQUAL_RECORDS_KNOWN_MAX + 50 }, (_, i) => ({ body: "timeout", user: `u${i}`, time: 0 }));
    const lines = [...contents, ...contents.slice(-70)];
    const send = otlp("protobuf", false);
    const ids = send(rigs, { lines, key: "" });
    expect(new Set(ids).size).toBe(lines.length);
    expect(send(rigs, { lines, key: "" })).toEqual(ids);
  });
});
