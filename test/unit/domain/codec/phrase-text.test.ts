import { describe, expect, it } from "vitest";
import { hash128 } from "../../../../src/core/hashing/hash128.ts";
import { ByteReader } from "../../../../src/domain/codec/byte-reader.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { readPhrased, writePhrased } from "../../../../src/domain/codec/phrase-text.ts";
import { FAR_PHRASES, NEAR_PHRASES } from "../../../../src/domain/codec/phrases.ts";

const NAMES = ["latency_ms", "auth-service-0007", "production"];

function written(text: string, names: readonly string[] = NAMES): Uint8Array {
  const writer = new ByteWriter(4);
  writePhrased(writer, text, names);
  return writer.bytes.slice(0, writer.at);
}

const read = (bytes: Uint8Array, bytesMax = 1e6) => readPhrased(new ByteReader(bytes, "damaged"), bytesMax, NAMES);

describe("packed text", () => {
  it("has a code for each phrase, which tells it from all others", () => {
    const phrases = [...NEAR_PHRASES, ...FAR_PHRASES];
    expect(new Set(phrases).size).toBe(phrases.length);
    expect([NEAR_PHRASES.length <= 56, FAR_PHRASES.length <= 256]).toEqual([true, true]);
    expect(NEAR_PHRASES.filter((text) => written(text, []).length !== 2)).toEqual([]);
    expect(FAR_PHRASES.filter((text) => written(text, []).length !== 3)).toEqual([]);
    expect(phrases.filter((text) => !/^[ -/:-~][ -~]+$/.test(text))).toEqual([]);
  });

  it.each([
    ["latency_ms was 412, 9.3 standard deviations above its usual 120 (expected 96 to 144 over the last 120 samples)", 22],
    ["latency_ms was 412 (equivalent z 9.3), above its usual 120 (expected 96 to 144 over the last 120 samples)", 23],
    ['{"env":"production","pod":"auth-service-0007-jbl9zv49tc-phpr5","region":"eu-west-1"}', 31],
    ["auth-service-0007", 2],
    ["", 1],
    ["0123456789012", 8],
  ])("takes few bytes: %s", (text, bytes) => {
    expect([written(text).length, read(written(text))]).toEqual([bytes, text]);
  });

  /** Stored rows are read for ever: whoever changes the codes or their order changes these bytes. */
  it("is written as it always was", () => {
    const text = "latency_ms was 4.25, more than 99 standard deviations above its usual 1.207 (expected 1 to 2 over the last 120 samples)";
    const stored = Buffer.from("2c0104342e992c20000005312e9437083109320a8c300b", "hex");
    expect(Buffer.from(written(text))).toEqual(stored);
    expect(read(stored)).toBe(text);
    expect(hash128(JSON.stringify(NEAR_PHRASES))).toBe("0fcf60f72a3a848e8d16c49661a95513");
    expect(hash128(JSON.stringify(FAR_PHRASES.slice(0, 199)))).toBe("4285aef163ce4e6e077ffb869a72f887");
  });

  it.each(["größer", "a\nb", "\u007f", "x".repeat(100) + "\u2028"])("is plain where a character has no code: %j", (text) => {
    const bytes = written(text);
    expect([bytes[0], read(bytes)]).toEqual([1, text]);
  });

  it("may be long", () => {
    const text = "latency_ms over the last 7 samples) / ".repeat(3000);
    expect(read(written(text))).toBe(text);
  });

  it("that is damaged is an error", () => {
    const cut = written("latency_ms was 412 and more");
    for (let length = 0; length < cut.length; length++) expect(() => read(cut.subarray(0, length)), `${length}`).toThrow("damaged");
    expect(() => read(Uint8Array.of(3, 65))).toThrow("damaged");
    expect(() => read(Uint8Array.of(2, 0x7f))).toThrow("damaged");
    expect(() => read(Uint8Array.of(2, 0))).toThrow("damaged");
    expect(() => read(Uint8Array.of(4, 0, 255))).toThrow("damaged");
    expect(() => readPhrased(new ByteReader(Uint8Array.of(2, 1), "damaged"), 10)).toThrow("damaged");
    expect(() => read(written("latency_ms ".repeat(50)), 100)).toThrow("damaged");
  });
});
