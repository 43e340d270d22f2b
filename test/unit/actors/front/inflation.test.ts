/** Inflation counts what is under way, whose turn it is, and what a body grew to; the time it takes is nobody's concern here. */
import { randomBytes } from "node:crypto";
import * as zlib from "node:zlib";
import { expect, it } from "vitest";
import { HAS_ZSTD, type Inflated, Inflations } from "../../../../src/actors/front/inflation.ts";
import {
  INFLATED_RATIO_BYTES_FREE,
  INFLATED_RATIO_MAX,
  INFLATING_PER_TENANT_MAX,
  INFLATION_BYTES_WAITING_MAX,
  INFLATIONS_WAITING_MAX,
} from "../../../../src/core/config/body-limits.ts";
import { DECOMPRESSED_BYTES_MAX, SMALL_BODY_BYTES_MAX } from "../../../../src/core/config/limits.ts";
import { until } from "../../../support/until.ts";

const MIB = 1024 * 1024;
const { gzipSync } = zlib;

function inflated(bytes: Uint8Array, inflations = new Inflations(), tenant = 0, bytesMax = DECOMPRESSED_BYTES_MAX): Promise<Inflated> {
  return new Promise((resolve, reject) => {
    if (!inflations.take({ bytes, coding: "gzip", tenant, bytesMax }, resolve)) reject(new Error("no room"));
  });
}

async function bytesOf(bytes: Uint8Array): Promise<readonly Uint8Array[]> {
  const result = await inflated(bytes);
  if (!result.ok) throw new Error(result.message);
  return result.pieces;
}

it("gives a small body in one piece, and a large one in pieces that nobody joins", async () => {
  const small = randomBytes(SMALL_BODY_BYTES_MAX);
  expect((await bytesOf(gzipSync(small))).map((piece) => small.equals(piece))).toEqual([true]);
  const large = randomBytes(3 * MIB);
  const pieces = await bytesOf(gzipSync(large));
  expect(pieces.length).toBeGreaterThanOrEqual(large.length / (64 * 1024));
  expect(Buffer.concat(pieces).equals(large)).toBe(true);
  expect(await bytesOf(gzipSync(""))).toEqual([Buffer.alloc(0)]);
  expect(await bytesOf(Buffer.concat([gzipSync("a"), gzipSync("b")]))).toEqual([Buffer.from("ab")]);
});

it("takes telemetry that repeats itself, and gives up what no telemetry does long before it is whole", async () => {
  const records = Array.from({ length: 10_000 }, (_, i) => ({
    service_id: "cart",
    metric_name: "latency",
    value: 12.5,
    timestamp: new Date(1_795_220_410_000 + i).toISOString(),
    attributes: { region: "eu", host: "node-1" },
  }));
  const logs = Array.from({ length: 2_000 }, (_, i) => ({
    timeUnixNano: `${1_795_220_410_000 + i}000000`,
    body: { stringValue: "at com.example.Foo.bar(Foo.java:123)\n".repeat(200) },
  }));
  for (const body of [records, logs]) {
    const text = Buffer.from(JSON.stringify(body));
    expect(Buffer.concat(await bytesOf(gzipSync(text, { level: 9 }))).equals(text)).toBe(true);
  }
  expect(await inflated(gzipSync(Buffer.alloc(INFLATED_RATIO_BYTES_FREE, " ")))).toMatchObject({ ok: true });
  const spaces = gzipSync(Buffer.alloc(DECOMPRESSED_BYTES_MAX, " "));
  expect(await inflated(spaces)).toEqual({
    ok: false,
    reason: "too_large",
    message: `the body inflates to more than ${INFLATED_RATIO_MAX} times the ${spaces.length} bytes that were sent, which telemetry does not; send it without compression`,
  });
  expect(await inflated(gzipSync(randomBytes(2 * MIB)), new Inflations(), 0, MIB)).toMatchObject({
    ok: false,
    reason: "too_large",
    message: expect.stringMatching(/more than 1048576 bytes/),
  });
});

it("says what is no gzip, and what ends too soon", async () => {
  expect(await inflated(Buffer.from("no gzip"))).toMatchObject({
    ok: false,
    reason: "not_encoded",
    message: expect.stringMatching(/not gzip.*incorrect header/),
  });
  expect(await inflated(gzipSync(randomBytes(MIB)).subarray(0, 1000))).toMatchObject({
    ok: false,
    reason: "not_encoded",
    message: expect.stringMatching(/unexpected end/),
  });
});

it("a tenant with many large bodies neither fills the queue nor keeps others waiting behind all of them", async () => {
  const inflations = new Inflations();
  const large = gzipSync(randomBytes(2 * MIB), { level: 0 });
  const order: number[] = [];
  const all: Array<Promise<unknown>> = [];
  let refused = 0;
  for (let i = 0; i < INFLATIONS_WAITING_MAX; i++) {
    const taken = inflations.take({ bytes: large, coding: "gzip", tenant: 1, bytesMax: DECOMPRESSED_BYTES_MAX }, () => order.push(1));
    if (!taken) refused++;
  }
  const most = Math.floor(INFLATION_BYTES_WAITING_MAX / 2 / large.length);
  expect(INFLATIONS_WAITING_MAX - refused).toBe(most);
  for (let i = 0; i < 4; i++) all.push(inflated(gzipSync("[]"), inflations, 2).then(() => order.push(2)));
  expect(inflations.count).toBe(most + 4);
  await Promise.all(all);
  expect(order.filter((tenant) => tenant === 1).length).toBeLessThanOrEqual(4 * INFLATING_PER_TENANT_MAX);
  await until("all inflations' ends", () => inflations.count === 0);
  expect(order).toHaveLength(most + 4);
});

it("small bodies of one tenant fill half of the places at most", async () => {
  const inflations = new Inflations();
  const done: boolean[] = [];
  const take = (tenant: number) =>
    inflations.take({ bytes: gzipSync("[]"), coding: "gzip", tenant, bytesMax: MIB }, ({ ok }) => done.push(ok));
  const taken = Array.from({ length: INFLATIONS_WAITING_MAX }, () => take(1)).filter(Boolean).length;
  expect(taken).toBe(INFLATIONS_WAITING_MAX / 2);
  expect(take(2)).toBe(true);
  await until("all inflations' ends", () => inflations.count === 0);
  expect(done).toEqual(Array.from({ length: taken + 1 }, () => true));
});

/** zstd of Node 22.15 and newer: `.ci/run` has them. */
const { zstdCompressSync } = zlib as unknown as { zstdCompressSync?: (bytes: Uint8Array) => Buffer };

if (HAS_ZSTD) {
  it("inflates one whole frame of zstd, and refuses two, half of one, and what grows too far", async () => {
    const pack = zstdCompressSync as (bytes: Uint8Array) => Buffer;
    const unpacked = (bytes: Uint8Array) =>
      new Promise<Inflated>((resolve) => {
        new Inflations().take({ bytes, coding: "zstd", tenant: 0, bytesMax: DECOMPRESSED_BYTES_MAX }, resolve);
      });
    const text = randomBytes(3 * MIB);
    const frame = pack(text);
    const whole = await unpacked(frame);
    expect(whole.ok && Buffer.concat(whole.pieces).equals(text)).toBe(true);
    const refused = { ok: false, reason: "not_encoded", message: expect.stringMatching(/not zstd.*one whole frame/) };
    for (const bytes of [Buffer.concat([frame, frame]), frame.subarray(0, -1), Buffer.from("no zstd"), Buffer.alloc(0)])
      expect(await unpacked(bytes)).toEqual(refused);
    const grown = { ok: false, reason: "too_large", message: expect.stringMatching(/more than 3000 times/) };
    expect(await unpacked(pack(Buffer.alloc(DECOMPRESSED_BYTES_MAX, " ")))).toEqual(grown);
  });
}
