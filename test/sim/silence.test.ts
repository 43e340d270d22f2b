// What pages at night when a way in breaks, when history is imported, and when either comes back: through the whole server on a virtual clock.
import { describe, expect, it } from "vitest";
import { MINUTE_MS, type SentRecord, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const SECOND = 1000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A service, its interval, and when it sends. */
interface Sender {
  readonly name: string;
  readonly everyMs: number;
  sends(minute: number): boolean;
}

const NEVER = Number.POSITIVE_INFINITY;
const senders = (prefix: string, count: number, everyMs: number, stop = NEVER, back = NEVER): Sender[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `${prefix}${String(i).padStart(2, "0")}`,
    everyMs,
    sends: (minute) => minute < stop || minute >= back,
  }));

/** Lets minutes pass; each service sends what falls into them. */
async function run(watched: WatchedServer, all: readonly Sender[], from: number, to: number): Promise<void> {
  for (let minute = from; minute < to; minute++) {
    const records: SentRecord[] = [];
    for (const { name, everyMs, sends } of all) {
      if (!sends(minute)) continue;
      const endMs = watched.nowMs;
      for (let atMs = Math.ceil((endMs - MINUTE_MS + 1) / everyMs) * everyMs; atMs <= endMs; atMs += everyMs) {
        records.push({ service: name, metric: "queue_length", value: 5, atMs });
      }
    }
    if (records.length > 0) await watched.send(records);
    await watched.minute();
  }
}

interface Reported {
  readonly service_id: string;
  readonly pages: number;
  readonly explanation: string;
  readonly state: string;
}

async function alerts(watched: WatchedServer): Promise<Reported[]> {
  const { alerts: all } = (await watched.server.query("alerts", { limit: "1000" })) as { alerts: Reported[] };
  return all.filter(({ pages }) => pages > 0).sort((a, b) => (a.service_id < b.service_id ? -1 : 1));
}

const pages = async (watched: WatchedServer) => (await alerts(watched)).map((reported) => `${reported.service_id} ${reported.pages}`);

describe("the silence of a tenant", () => {
  it("of 41 services with intervals from 10 s to 5 min is one page, and none when part of it recovers, alike for 1, 2 and 3 engines", async () => {
    const outcomes: unknown[] = [];
    for (const engines of [1, 2, 3]) {
      const watched = await WatchedServer.open(START, engines);
      const all = [
        ...senders("fast", 6, 10 * SECOND, 270, 300),
        ...senders("minute", 25, MINUTE_MS, 270, 360),
        ...senders("rare", 10, 5 * MINUTE_MS, 270, 300),
      ];
      await run(watched, all, 0, 270);
      expect(await alerts(watched)).toEqual([]);
      await run(watched, all, 270, 290);
      expect(await pages(watched)).toEqual(["ingestion 1"]);
      expect((await alerts(watched))[0]?.explanation).toMatch(
        /^41 of 41 services have been silent together since 2026-01-05 10:\d\d:\d\d UTC: their way in/,
      );
      // 16 come back: what is left is less than most.
      await run(watched, all, 290, 330);
      expect(await pages(watched)).toEqual(["ingestion 1"]);
      const [part] = await alerts(watched);
      expect(part).toMatchObject({ state: "firing" });
      expect(part?.explanation).toMatch(
        /^25 of 41 services that fell silent together are still silent, .*: minute00, minute01, .* and 15 more; the others send again$/,
      );
      await watched.kill();
      await run(watched, all, 330, 345);
      expect(await pages(watched)).toEqual(["ingestion 1"]);
      outcomes.push(await watched.anomalies());
      // All are back.
      await run(watched, all, 345, 365);
      expect(await pages(watched)).toEqual(["ingestion 1"]);
      const [ended] = await watched.anomalies();
      expect(ended).toMatchObject({ service_id: "ingestion", resolved: true, resolved_by: "recovered" });
    }
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
  });

  it("leaves a service that dies alone its own page, before it, while it lasts and after", async () => {
    const watched = await WatchedServer.open(START);
    const all = [
      ...senders("alone", 1, 10 * SECOND, 60, 400),
      ...senders("s", 12, 10 * SECOND, 70, 90),
      ...senders("later", 1, 10 * SECOND, 100, 400),
      ...senders("still", 1, 10 * SECOND, 70, 400),
    ];
    await run(watched, all, 0, 62);
    expect(await pages(watched)).toEqual([]);
    await run(watched, all, 62, 63);
    expect(await pages(watched)).toEqual(["alone00 1"]);
    await run(watched, all, 63, 80);
    // That the others follow is an update of the page that was told first; thirteen are one page.
    expect(await pages(watched)).toEqual(["alone00 1"]);
    await run(watched, all, 80, 120);
    expect(await pages(watched)).toEqual(["alone00 1", "later00 1"]);
    const reported = (await alerts(watched)).find(({ service_id }) => service_id === "alone00");
    expect(reported).toMatchObject({ state: "firing", explanation: expect.stringMatching(/^1 of 13 .*: still00; the others send again$/) });
  });

  it("holds what it cannot know yet, and says so in the ledger", async () => {
    const watched = await WatchedServer.open(START);
    const all = [...senders("fast", 2, 10 * SECOND, 270), ...senders("rare", 4, 4 * MINUTE_MS, 270, 276)];
    await run(watched, all, 0, 274);
    expect(await pages(watched)).toEqual([]);
    const { decisions } = (await watched.server.query("alertLedger", {
      service_id: "fast00",
      since: new Date(START).toISOString(),
    })) as { decisions: Array<{ outcome: string; suppressed_by: string; explanation: string }> };
    expect(decisions).toMatchObject([{ outcome: "suppressed", suppressed_by: "tenant_silence" }]);
    expect(decisions[0]?.explanation).toMatch(
      /^no sample of fast00 for \d+ (s|min); 2 services fell silent together, and until 2026-01-05 10:\d\d:\d\d UTC others may show whether the whole tenant is silent: held until then$/,
    );
    await run(watched, all, 274, 278);
    expect(await pages(watched)).toEqual(["fast00 1", "fast01 1"]);
  });
});

describe("history", () => {
  const history = (service: string, metric: string, endMs: number, count: number, value: (at: number) => number): string =>
    Array.from({ length: count }, (_, at) => {
      const timeMs = endMs - (count - 1 - at) * MINUTE_MS;
      return `${new Date(timeMs).toISOString()},${service},${metric},${value(at)}`;
    }).join("\n");
  const csv = (...parts: readonly string[]) => `timestamp,service_id,metric_name,value\n${parts.join("\n")}\n`;

  it("pages nobody for a silence behind it, live, after a restart and in a backtest, until the service sends", async () => {
    const watched = await WatchedServer.open(START);
    const live = senders("live", 2, MINUTE_MS);
    await run(watched, live, 0, 60);
    await watched.importCsv(csv(history("old", "queue_length", START - 4 * DAY_MS, 300, () => 5)));
    await watched.importCsv(csv(history("recent", "queue_length", watched.nowMs - 10 * MINUTE_MS, 300, () => 5)));
    // A disk that was full when the history ends.
    await watched.importCsv(csv(history("recent", "disk_used_percent", watched.nowMs, 600, (at) => 40 + at / 12)));
    await run(watched, live, 60, 90);
    expect(await watched.anomalies()).toEqual([]);
    await watched.kill();
    await run(watched, live, 90, 110);
    expect(await watched.anomalies()).toEqual([]);
    const until = new Date(watched.nowMs).toISOString();
    const backtest = await watched.server.query("backtest", {}, "default", {
      since: new Date(START - 5 * DAY_MS).toISOString(),
      until,
      settings: {},
    });
    expect(backtest).toMatchObject({ findings: { before: {} } });
    // Once it sends a service is watched, as soon as its rhythm shows again behind the gap.
    const old = { ...senders("old", 1, MINUTE_MS, 165)[0], name: "old" } as Sender;
    await run(watched, [...live, old], 110, 165);
    expect(await watched.anomalies()).toEqual([]);
    await run(watched, [...live, old], 165, 171);
    expect((await watched.anomalies()).map(({ service_id, metric_name }) => `${service_id} ${metric_name}`)).toEqual(["old service.stale"]);
  });

  it("pages in a backtest what a gap within it would have paged", async () => {
    const watched = await WatchedServer.open(START);
    const endMs = START - DAY_MS;
    const [before, after] = [
      history("old", "queue_length", endMs - 60 * MINUTE_MS, 200, () => 5),
      history("old", "queue_length", endMs, 40, () => 5),
    ];
    await watched.importCsv(
      csv(
        before,
        after,
        history("steady", "queue_length", endMs, 260, () => 5),
      ),
    );
    const body = { since: new Date(endMs - 300 * MINUTE_MS).toISOString(), until: new Date(START).toISOString(), settings: {} };
    const answer = (await watched.server.query("backtest", {}, "default", { ...body, silences: { add: [] } })) as {
      findings: { before: Record<string, number> };
      pages: { before: number };
    };
    expect(answer.pages.before).toBeGreaterThan(0);
    expect(await watched.anomalies()).toEqual([]);
  });

  it("does not end a silence that is told", async () => {
    const watched = await WatchedServer.open(START);
    const all = [...senders("gone", 1, MINUTE_MS, 60), ...senders("live", 3, MINUTE_MS)];
    await run(watched, all, 0, 70);
    expect(await pages(watched)).toEqual(["gone00 1"]);
    await watched.importCsv(csv(history("gone00", "queue_length", watched.nowMs, 9, () => 5)));
    await run(watched, all, 70, 75);
    expect((await watched.anomalies()).map(({ service_id, resolved }) => `${service_id} ${resolved}`)).toEqual(["gone00 false"]);
  });
});

describe("a service that was retired", () => {
  it("is not missed, and data brings it back: its next silence is told", async () => {
    const watched = await WatchedServer.open(START, 2);
    const others = senders("other", 4, MINUTE_MS);
    const gone = { name: "gone", everyMs: MINUTE_MS, sends: (minute: number) => minute < 200 || (minute >= 210 && minute < 240) };
    const all = [...others, gone];
    await run(watched, all, 0, 201);
    await watched.server.query("retireService", {}, "default", {}, { id: "gone" });
    await run(watched, all, 201, 210);
    expect(await pages(watched)).toEqual([]);
    await run(watched, all, 210, 270);
    expect(await pages(watched)).toEqual(["gone 1"]);
  });
});
