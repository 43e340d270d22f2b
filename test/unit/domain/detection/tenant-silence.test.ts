// A tenant that falls silent: what is told of its services, what by one alert, and what waits for more to be known.
import { describe, expect, it } from "vitest";
import type { SilentService } from "../../../../src/core/protocol/arrivals.ts";
import type { RuleFinding } from "../../../../src/domain/detection/service/rule-episode-set.ts";
import { SilentTenants } from "../../../../src/domain/detection/service/silent-tenants.ts";
import { type KnownSilence, type TenantArrivals, tenantSilence } from "../../../../src/domain/detection/service/tenant-silence.ts";

const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 0, 5, 6);
const FRESH: KnownSilence = { isReported: () => false, onsetMs: undefined, suppressedSinceMs: undefined };

/** A service that sends every so often, and when it has sent last. */
interface Sender {
  readonly name: string;
  readonly everyMs: number;
  readonly lastMs: number;
}

/** What an engine tells of senders at a moment, by the same limits. */
function arrivalsOf(senders: readonly Sender[], nowMs: number): TenantArrivals {
  const silent: SilentService[] = [];
  const pending: number[] = [];
  for (const { name, everyMs, lastMs } of senders) {
    const limitMs = Math.max(5 * everyMs, 3 * MINUTE);
    const isStale = nowMs - lastMs > limitMs;
    const of = { service: JSON.stringify(["acme", name]), environment: "", lastSeenMs: lastMs, sinceMs: lastMs };
    if (isStale || nowMs - lastMs > Math.max(2 * everyMs, 2 * MINUTE)) {
      silent.push({ ...of, usualIntervalMs: everyMs, limitMs, usualSilenceMs: 0, isStale, gates: [] });
    } else if (nowMs - lastMs >= 2 * MINUTE) pending.push(lastMs, everyMs);
  }
  return { watched: senders.length, silent, pending };
}

const senders = (prefix: string, count: number, everyMs: number, lastMs: number): Sender[] =>
  Array.from({ length: count }, (_, i) => ({ name: `${prefix}${i}`, everyMs, lastMs }));

const namesOf = (services: readonly SilentService[]) => services.map(({ service }) => (JSON.parse(service) as [string, string])[1]);

function reported(all: readonly Sender[], nowMs: number, known = FRESH) {
  const { ingestion, single, suppressed } = tenantSilence(arrivalsOf(all, nowMs), known, nowMs);
  return { ingestion: namesOf(ingestion), single: namesOf(single), suppressed: namesOf(suppressed) };
}

describe("a tenant that falls silent", () => {
  const at = START + 3 * MINUTE + SECOND;

  it("is one alert from more than half on, whatever the intervals of its services", () => {
    const outage = [...senders("fast", 4, 10 * SECOND, START), ...senders("slow", 6, MINUTE, START - 30 * SECOND)];
    expect(reported(outage, at)).toMatchObject({ single: [], suppressed: [], ingestion: [...namesAt("fast", 4), ...namesAt("slow", 6)] });
    const alive = senders("alive", 10, MINUTE, at - 20 * SECOND);
    expect(reported([...outage, ...alive], at)).toMatchObject({ ingestion: [], single: namesAt("fast", 4) });
    expect(reported([...outage, ...alive.slice(1)], at).ingestion).toHaveLength(10);
  });

  it("judges by when services fell silent: one that fell silent before or after has an alert of its own", () => {
    const outage = senders("s", 5, 10 * SECOND, START);
    const before = { name: "before", everyMs: 10 * SECOND, lastMs: START - 3 * MINUTE };
    expect(reported([...outage, before], at)).toMatchObject({ ingestion: namesAt("s", 5), single: ["before"] });
  });

  it("of few services is that of all of them, two at the least", () => {
    expect(reported(senders("s", 1, 10 * SECOND, START), at)).toEqual({ ingestion: [], single: ["s0"], suppressed: [] });
    expect(reported(senders("s", 2, 10 * SECOND, START), at)).toEqual({ ingestion: ["s0", "s1"], single: [], suppressed: [] });
    const third = (lastMs: number) => ({ name: "third", everyMs: 10 * SECOND, lastMs });
    expect(reported([...senders("s", 2, 10 * SECOND, START), third(at)], at)).toEqual({
      ingestion: [],
      single: ["s0", "s1"],
      suppressed: [],
    });
    expect(reported([...senders("s", 2, 10 * SECOND, START), third(START)], at).ingestion).toHaveLength(3);
  });

  it("a service that dies alone is told at its limit, whatever the others' intervals", () => {
    for (const everyMs of [10 * SECOND, MINUTE, 5 * MINUTE, HOUR]) {
      const others = senders("other", 9, everyMs, at - Math.min(everyMs, 3 * MINUTE) + SECOND);
      const dead = { name: "dead", everyMs: 10 * SECOND, lastMs: START };
      expect(reported([dead, ...others], at - SECOND - 1)).toEqual({ ingestion: [], single: [], suppressed: [] });
      expect(reported([dead, ...others], at)).toEqual({ ingestion: [], single: ["dead"], suppressed: [] });
    }
  });

  it("holds findings while services that send more rarely may tell, and then says what they told", () => {
    const fast = senders("fast", 3, 10 * SECOND, START);
    const rare = (lastMs: number) => senders("rare", 4, 2 * MINUTE, lastMs);
    const first = tenantSilence(arrivalsOf([...fast, ...rare(START - SECOND)], at), FRESH, at);
    expect(namesOf(first.suppressed)).toEqual(namesAt("fast", 3));
    expect(first.suppressedUntilMs).toBe(START - SECOND + 4 * MINUTE);
    // They missed their samples too.
    const late = first.suppressedUntilMs + SECOND;
    const known = { ...FRESH, suppressedSinceMs: at };
    expect(reported([...fast, ...rare(START - SECOND)], late, known)).toMatchObject({
      ingestion: { length: 7 },
      single: [],
      suppressed: [],
    });
    // They sent.
    expect(reported([...fast, ...rare(START + 2 * MINUTE)], late, known)).toEqual({
      ingestion: [],
      single: namesAt("fast", 3),
      suppressed: [],
    });
  });

  it("holds nothing for longer than five minutes, nor for those that could not tell by then", () => {
    const hourly = senders("hourly", 9, HOUR, START - 20 * MINUTE);
    // All that could be heard is silent.
    expect(reported([...senders("fast", 2, 10 * SECOND, START), ...hourly], at)).toEqual({
      ingestion: namesAt("fast", 2),
      single: [],
      suppressed: [],
    });
    const rare = senders("rare", 6, 3 * MINUTE, START);
    const alive = senders("alive", 3, 10 * SECOND, at);
    const all = [...senders("fast", 3, 10 * SECOND, START), ...rare, ...alive];
    expect(reported(all, at).suppressed).toEqual(namesAt("fast", 3));
    expect(reported(all, at, { ...FRESH, suppressedSinceMs: at - 5 * MINUTE })).toEqual({
      ingestion: [],
      single: namesAt("fast", 3),
      suppressed: [],
    });
  });

  it("covers a service that has not been heard since, however long, and tells one that was heard and fell silent again", () => {
    const known = { ...FRESH, onsetMs: START };
    const later = START + 30 * MINUTE;
    const still = senders("still", 5, 10 * SECOND, START - 20 * SECOND);
    const again = { name: "again", everyMs: 10 * SECOND, lastMs: START + 20 * MINUTE };
    const alive = senders("alive", 20, 10 * SECOND, later);
    expect(reported([...still, again, ...alive], later, known)).toEqual({
      ingestion: namesAt("still", 5),
      single: ["again"],
      suppressed: [],
    });
  });
});

describe("silences from cycle to cycle", () => {
  /** Runs cycles of half a minute over senders that change, and gives back what each told. */
  function watch(cycles: number, sendersAt: (nowMs: number) => readonly Sender[]): RuleFinding[][] {
    const open = new Set<string>();
    const tenants = new SilentTenants(({ serviceId }) => open.has(serviceId));
    return Array.from({ length: cycles }, (_, cycle) => {
      const nowMs = START + cycle * 30 * SECOND;
      const found = tenants.findings("acme", { ...arrivalsOf(sendersAt(nowMs), nowMs), isUnheard: false }, nowMs);
      open.clear();
      for (const { serviceId } of found) open.add(serviceId);
      return found;
    });
  }
  const sending = (name: string, everyMs: number, nowMs: number, stopMs = Number.POSITIVE_INFINITY, backMs = Number.POSITIVE_INFINITY) => {
    const lastMs = nowMs >= backMs ? nowMs : Math.min(nowMs, stopMs);
    return { name, everyMs, lastMs: Math.floor(lastMs / everyMs) * everyMs };
  };

  it("41 services of intervals from 10 s to 10 min that stop are one alert, and one for as long as any is silent", () => {
    const stopMs = START + 2 * MINUTE;
    const intervals = [10 * SECOND, 30 * SECOND, MINUTE, 5 * MINUTE, 10 * MINUTE];
    const cycles = watch(400, (nowMs) =>
      Array.from({ length: 41 }, (_, i) => {
        const name = `s${String(i).padStart(2, "0")}`;
        return sending(name, intervals[i % 5] as number, nowMs, stopMs, i < 16 ? START + 40 * MINUTE : START + (60 + i) * MINUTE);
      }),
    );
    const places = new Set(cycles.flat().map(({ serviceId }) => serviceId));
    expect([...places]).toEqual(["ingestion"]);
    // One that goes on without a break, and ends with the last service.
    const reported = cycles.map((found) => found.length);
    expect(reported.lastIndexOf(1)).toBeGreaterThan(150);
    expect(reported.slice(reported.indexOf(1), reported.lastIndexOf(1) + 1).every((count) => count === 1)).toBe(true);
    expect(reported.at(-1)).toBe(0);
    const texts = [...new Set(cycles.flat().map(({ explanation }) => explanation as string))];
    expect(
      texts.some((text) =>
        /^41 of 41 services have been silent together since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: their .*: s00, s01, .* and 31 more$/.test(
          text,
        ),
      ),
    ).toBe(true);
    expect(
      texts.some((text) => /^25 of 41 services that fell silent together are still silent, since .*; the others send again$/.test(text)),
    ).toBe(true);
    // What is told changes with the services alone, never with the clock.
    expect(texts.length).toBeLessThan(45);
  });

  it("goes on after a restart with what is told, also by an earlier version, and changes nothing while services are unheard", () => {
    for (const silent_since of [new Date(START).toISOString(), undefined]) {
      const tenants = new SilentTenants(() => false);
      const attributes = {
        services: namesAt("s", 5),
        silent: 5,
        watched: 6,
        ...(silent_since !== undefined && { silent_since, silent_most: 5 }),
      };
      const place = { tenant: "acme", environment: "", serviceId: "ingestion", metricName: "service.stale" };
      tenants.restore({ ...place, attributes, startedAtMs: START + 4 * MINUTE });
      const at = START + 30 * MINUTE;
      const still = [...senders("s", 2, 10 * SECOND, START), ...senders("alive", 9, 10 * SECOND, at)];
      expect(tenants.findings("acme", { ...arrivalsOf(still, at), isUnheard: true }, at)).toEqual([]);
      const [finding, ...more] = tenants.findings("acme", { ...arrivalsOf(still, at), isUnheard: false }, at);
      expect(finding?.explanation).toMatch(
        /^2 of 5 services that fell silent together are still silent, since .*: s0, s1; the others send again$/,
      );
      expect(more).toEqual([]);
      expect(tenants.findings("acme", { ...arrivalsOf([], at), isUnheard: false }, at)).toEqual([]);
    }
  });

  it("tells the others' silence as the tenant's where a service was told alone before they could be known to be silent", () => {
    const stopMs = START + 2 * MINUTE;
    for (const rare of [1, 4]) {
      const cycles = watch(200, (nowMs) => [
        sending("a", 10 * SECOND, nowMs, stopMs),
        ...senders("rare", rare, 5 * MINUTE, 0).map(({ name }) => sending(name, 5 * MINUTE, nowMs, stopMs)),
      ]);
      const places = cycles.map((found) => found.map(({ serviceId }) => serviceId).join(" "));
      expect(places.indexOf("a")).toBe(11);
      // Overdue after two of their intervals, and not after five.
      expect(places.indexOf("ingestion a")).toBe(21);
      expect(new Set(places)).toEqual(new Set(["", "a", "ingestion a"]));
      expect(cycles.at(-1)?.[0]?.explanation).toMatch(new RegExp(`^${rare + 1} of ${rare + 1} services have been silent together`));
    }
  });

  it("leaves a service that was told long before out of the others' silence", () => {
    const cycles = watch(120, (nowMs) => [
      sending("dead", 10 * SECOND, nowMs, START + MINUTE),
      ...["a", "b", "c"].map((name) => sending(name, 10 * SECOND, nowMs, START + 20 * MINUTE)),
    ]);
    const last = cycles.at(-1) ?? [];
    expect(last.map(({ serviceId }) => serviceId)).toEqual(["ingestion", "dead"]);
    expect(last[0]?.attributes.services).toEqual(["a", "b", "c"]);
  });
});

function namesAt(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}
