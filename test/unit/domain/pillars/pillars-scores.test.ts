import { describe, expect, it } from "vitest";
import { finished } from "../../../../src/core/fairness/serial-work.ts";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";
import { MagnitudeHistory } from "../../../../src/domain/pillars/magnitude-history.ts";
import { PillarSpace } from "../../../../src/domain/pillars/pillar-space.ts";
import type { PillarValue } from "../../../../src/domain/pillars/pillar-value.ts";
import { serviceKey } from "../../../../src/domain/series/stream-identity.ts";
import { generator } from "../../../support/generator.ts";

const START_MS = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Three products of ten services each, in two tenants; services 0 to 4 of each have a region. */
class SpaceRig {
  readonly space: PillarSpace;
  readonly #random = generator(7);
  nowMs = START_MS;

  constructor(valuesMax = 1_000) {
    this.space = new PillarSpace(ShareLedger.alone(valuesMax));
  }

  map(serviceId: string, tenantId: string, productId: string, customKeys: Record<string, string> = {}): void {
    this.space.change("default", { serviceId, tenantId, productId, customKeys: Object.entries(customKeys) });
  }

  mapAll(): void {
    for (let i = 0; i < 30; i++) {
      const product = `product-${i % 3}`;
      this.map(`service-${i}`, i < 15 ? "acme" : "globex", product, i % 10 < 5 ? { region: "eu" } : {});
    }
  }

  /** One tick in which every service wanders a little, and those chosen by more. */
  tick(shift: (service: number) => readonly number[] = () => [0, 0, 0, 0], silent: (service: number) => boolean = () => false): void {
    this.nowMs += MINUTE_MS;
    for (const _ of this.space.begin());
    for (let i = 0; i < 30; i++) {
      if (silent(i)) continue;
      const noise = () => this.#random.uniform() + this.#random.uniform() - 1;
      const deviations = Float32Array.from(shift(i), (by) => by + noise());
      this.space.take(serviceKey("default", `service-${i}`), deviations, 0);
    }
    for (const _ of this.space.score(this.nowMs));
  }

  value(pillar: string, value: string): PillarValue {
    return finished(this.space.valuesOf("default")).find((one) => one.pillar === pillar && one.value === value) as PillarValue;
  }

  scoreOf(pillar: string, value: string): number {
    return this.value(pillar, value).score?.score as number;
  }
}

describe("scores of pillar values", () => {
  it("are high for a product that shifted and not for the others; the services that drive it are named", () => {
    const rig = new SpaceRig();
    rig.mapAll();
    for (let minute = 0; minute < 3 * 24 * 60; minute++) rig.tick();
    rig.tick((service) => (service % 3 === 1 ? [0, 0, service === 4 ? 6 : 2, 0] : [0, 0, 0, 0]));
    expect(rig.scoreOf("product", "product-1")).toBeGreaterThan(0.99);
    expect(rig.scoreOf("product", "product-0")).toBeLessThan(0.99);
    expect(rig.scoreOf("product", "product-2")).toBeLessThan(0.99);
    const { score, members } = rig.value("product", "product-1");
    expect(members).toBe(10);
    expect(score).toMatchObject({ evaluated: 10 });
    expect(score?.deviations[2]).toBeGreaterThan(1.5);
    expect(score?.drivers.map(({ serviceId }) => serviceId)).toContain("service-4");
    expect(score?.drivers[0]?.serviceId).toBe("service-4");
    expect(score?.drivers[0]?.deviations[2]).toBeGreaterThan(4);
    const contributions = score?.drivers.map(({ contribution }) => contribution) as number[];
    expect([...contributions].sort((a, b) => b - a)).toEqual(contributions);
    expect(contributions.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(1.2);
  });

  it("of what has no history are 0, and of a young value never high", () => {
    const rig = new SpaceRig();
    rig.mapAll();
    rig.tick(() => [9, 9, 9, 9]);
    expect(rig.scoreOf("product", "product-1")).toBe(0);
    for (let minute = 0; minute < 60; minute++) rig.tick();
    rig.tick(() => [9, 9, 9, 9]);
    expect(rig.scoreOf("product", "product-1")).toBeLessThan(0.85);
  });

  it("lie evenly between 0 and 1 while nothing happens", () => {
    const rig = new SpaceRig();
    rig.mapAll();
    const scores: number[] = [];
    for (let minute = 0; minute < 4 * 24 * 60; minute++) {
      rig.tick();
      if (minute > 2 * 24 * 60) scores.push(rig.scoreOf("tenant", "acme"));
    }
    const shareAbove = (level: number) => scores.filter((score) => score > level).length / scores.length;
    expect(shareAbove(0.5)).toBeGreaterThan(0.4);
    expect(shareAbove(0.5)).toBeLessThan(0.6);
    expect(shareAbove(0.95)).toBeLessThan(0.1);
  });

  it("leave out services that are not mapped, in that pillar alone", () => {
    const rig = new SpaceRig();
    rig.map("service-0", "acme", "", { region: "eu" });
    rig.map("service-1", "acme", "shop");
    rig.map("service-2", "", "shop", { region: "" });
    rig.tick();
    const members = finished(rig.space.valuesOf("default")).map(({ pillar, value, members: count }) => [pillar, value, count]);
    expect(members).toEqual([
      ["custom:region", "eu", 1],
      ["product", "shop", 2],
      ["tenant", "acme", 2],
    ]);
    expect(rig.space.counts).toMatchObject({ services: 3, evaluated: 3, values: 3 });
  });

  it("say how many members had data, and nothing where none had", () => {
    const rig = new SpaceRig();
    rig.mapAll();
    rig.tick(undefined, (service) => service % 3 === 0 || service < 5);
    expect(rig.value("product", "product-0").score).toMatchObject({ score: null, pValue: null, evaluated: 0, drivers: [] });
    expect(rig.value("product", "product-1").score).toMatchObject({ evaluated: 8 });
    expect(rig.value("product", "product-0").history.lastMs).toBe(0);
  });

  it("follow the map from the next tick on; the last entry of a service wins", () => {
    const rig = new SpaceRig();
    rig.map("service-0", "acme", "shop");
    rig.map("service-0", "acme", "search");
    expect(finished(rig.space.valuesOf("default"))).toEqual([]);
    rig.tick();
    expect(finished(rig.space.valuesOf("default")).map(({ value }) => value)).toEqual(["search", "acme"]);
    rig.map("service-0", "acme", "shop");
    rig.tick();
    expect(finished(rig.space.valuesOf("default")).map(({ value }) => value)).toEqual(["shop", "acme"]);
    rig.map("service-0", "", "");
    rig.tick();
    expect(finished(rig.space.valuesOf("default"))).toEqual([]);
  });

  it("know tenants of the API apart", () => {
    const rig = new SpaceRig();
    rig.map("service-0", "acme", "shop");
    rig.space.change("other", { serviceId: "service-0", tenantId: "acme", productId: "shop", customKeys: [] });
    rig.tick();
    expect(rig.value("product", "shop").members).toBe(1);
    expect(finished(rig.space.valuesOf("other"))[0]?.score).toMatchObject({ evaluated: 0 });
  });

  it("are bounded in number; the history of what nothing is mapped to is forgotten in time", () => {
    const rig = new SpaceRig(4);
    rig.mapAll();
    rig.tick();
    expect(rig.space.counts.values).toBe(4);
    expect(rig.space.counts.valuesRefused).toBeGreaterThan(0);
    for (let i = 0; i < 30; i++) rig.map(`service-${i}`, "", "");
    rig.tick();
    expect(rig.space.forget(rig.nowMs - DAY_MS, 100)).toEqual([]);
    expect(rig.space.forget(rig.nowMs + 1, 100)).toHaveLength(4);
    expect(rig.space.counts.values).toBe(0);
  });
});

describe("history of magnitudes", () => {
  it("takes one observation a minute and forgets after seven days", () => {
    const history = new MagnitudeHistory();
    for (let second = 0; second < 600; second++) history.observe(1, START_MS + second * 1_000);
    expect(history.observations(START_MS)).toBe(10);
    expect(history.observations(START_MS + 6 * DAY_MS)).toBe(10);
    expect(history.observations(START_MS + 7 * DAY_MS)).toBe(0);
    history.observe(2, START_MS + 7 * DAY_MS);
    expect(history.observations(START_MS + 7 * DAY_MS)).toBe(1);
    expect(history.firstMs).toBe(START_MS);
  });

  it("goes on where the clock was a year ahead for a while", () => {
    const history = new MagnitudeHistory();
    history.observe(1, START_MS);
    history.observe(1, START_MS + 365 * DAY_MS);
    history.observe(1, START_MS + MINUTE_MS);
    history.observe(1, START_MS + 2 * MINUTE_MS);
    expect(history.observations(START_MS + 2 * MINUTE_MS)).toBeGreaterThanOrEqual(2);
    expect(history.observations(START_MS + 2 * MINUTE_MS)).toBeLessThanOrEqual(3);
    expect(history.firstMs).toBe(START_MS);
  });

  it("counts windows of 15 minutes, and never says 0", () => {
    const history = new MagnitudeHistory();
    expect(history.tail(5, START_MS)).toBe(1);
    for (let minute = 0; minute < 150; minute++) history.observe(0.5, START_MS + minute * MINUTE_MS);
    expect(history.tail(20, START_MS + 150 * MINUTE_MS)).toBeCloseTo(1 / 11, 12);
    expect(history.tail(0, START_MS + 150 * MINUTE_MS)).toBe(1);
  });

  it("falls as the magnitude grows, also within a bin and at its edges", () => {
    const history = new MagnitudeHistory();
    const { uniform } = generator(3);
    for (let minute = 0; minute < 1_000; minute++) history.observe(Math.exp(6 * uniform() - 4), START_MS + minute * MINUTE_MS);
    let before = 1;
    for (let magnitude = 0; magnitude < 25; magnitude += 0.01) {
      const tail = history.tail(magnitude, START_MS + 1_000 * MINUTE_MS);
      expect(tail).toBeLessThanOrEqual(before);
      before = tail;
    }
    expect(before).toBeGreaterThan(0);
  });

  it("is the same after it was stored", () => {
    const history = new MagnitudeHistory();
    const { uniform } = generator(5);
    for (let minute = 0; minute < 3_000; minute += 7) history.observe(25 * uniform(), START_MS + minute * MINUTE_MS);
    const stored = MagnitudeHistory.decode(history.encode());
    expect(stored.encode()).toEqual(history.encode());
    for (const magnitude of [0, 0.1, 1, 5, 30]) {
      expect(stored.tail(magnitude, START_MS + 2 * DAY_MS)).toBe(history.tail(magnitude, START_MS + 2 * DAY_MS));
    }
    expect(() => MagnitudeHistory.decode(Uint8Array.of(9))).toThrow("version 9");
  });
});
