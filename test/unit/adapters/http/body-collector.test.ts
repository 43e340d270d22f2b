// Bodies put together from chunks: their bytes, and the memory that they hold meanwhile.
import { describe, expect, it } from "vitest";
import { BodyCollector } from "../../../../src/adapters/http/body-collector.ts";
import { BodyPool } from "../../../../src/adapters/http/body-pool.ts";
import { BodyShares } from "../../../../src/adapters/http/body-shares.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

function collecting(shares = BodyShares.alone(), maxBytes = 16 * MIB) {
  const bodies: Buffer[] = [];
  const account = shares.open("default", { remoteAddress: "10.0.0.1" });
  const pool = new BodyPool({ retainedBytesMax: 64 * MIB });
  const collector = new BodyCollector({ maxBytes, onBody: (body) => void bodies.push(Buffer.from(body)) }, { pool, account });
  return { collector, bodies, shares };
}

/** Bytes that are each their place, so that none may be exchanged. */
const counting = (bytes: number) => Buffer.from(Uint32Array.from({ length: bytes / 4 }, (_, i) => i).buffer);

describe("a body in chunks", () => {
  it.each([[100], [1_000], [16 * KIB], [16 * KIB + 4], [64 * KIB], [100_000], [512 * KIB]])(
    "of %i bytes each is handed over as it came",
    (size) => {
      const whole = counting(3 * MIB);
      const { collector, bodies } = collecting();
      for (let at = 0; at < whole.length; at += size) {
        expect(collector.append(whole.subarray(at, at + size), at + size >= whole.length)).toBe("taken");
      }
      collector.deliver();
      expect(bodies.map(({ length }) => length)).toEqual([whole.length]);
      expect(bodies[0]?.equals(whole)).toBe(true);
    },
  );

  it("holds what has come and an eighth more, not a power of two of it", () => {
    const { collector, shares } = collecting();
    const chunk = Buffer.alloc(64 * KIB);
    for (let at = 0; at < 8 * MIB; at += chunk.length) collector.append(chunk, false);
    collector.append(Buffer.alloc(1), false);
    expect(shares.taken).toBeGreaterThan(8 * MIB);
    expect(shares.taken).toBeLessThanOrEqual((9 / 8) * 8 * MIB + 64 * KIB);
    collector.discard();
    expect(shares.taken).toBe(0);
  });

  it("counts nothing for one that comes whole, so none is refused where memory is used up", () => {
    const { collector, bodies, shares } = collecting(BodyShares.alone(0));
    expect(collector.append(Buffer.from("whole"), true)).toBe("taken");
    collector.deliver();
    expect(bodies.map(String)).toEqual(["whole"]);
    expect(shares.taken).toBe(0);
  });

  it("counts nothing for the first 16 KiB of one that begins small, but for adapters that ask for it", () => {
    const { collector, shares } = collecting(BodyShares.alone(0));
    expect(collector.append(Buffer.alloc(100), false)).toBe("taken");
    expect(collector.append(Buffer.alloc(16 * KIB - 100), false)).toBe("taken");
    expect(collector.append(Buffer.alloc(1), false)).toBe("no-memory");
    const account = shares.open("default", { remoteAddress: "10.0.0.1" });
    const options = { maxBytes: MIB, onBody: () => undefined, countsFirst: true };
    const counting = new BodyCollector(options, { pool: new BodyPool({ retainedBytesMax: MIB }), account });
    expect(counting.append(Buffer.alloc(1), false)).toBe("no-memory");
  });

  it("gives its memory back where the receiver throws", () => {
    const shares = BodyShares.alone();
    const account = shares.open("default", { remoteAddress: "10.0.0.1" });
    const options = {
      maxBytes: 100,
      onBody: () => {
        throw new Error("no");
      },
    };
    const collector = new BodyCollector(options, { pool: new BodyPool({ retainedBytesMax: MIB }), account });
    collector.append(Buffer.from("ab"), false);
    expect(() => collector.deliver()).toThrow("no");
    expect(shares.taken).toBe(0);
  });

  it("is refused beyond its bound, byte by byte", () => {
    const { collector } = collecting(BodyShares.alone(), 10);
    expect(collector.append(Buffer.alloc(10), false)).toBe("taken");
    expect(collector.append(Buffer.alloc(1), true)).toBe("too-long");
  });
});
