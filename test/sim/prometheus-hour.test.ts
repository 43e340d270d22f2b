// An hour of a real Prometheus and node_exporter from nothing, as it came, through the whole server: what people are told. And a machine that is calm for an hour until a
// core of it is loaded, and then a small disk fills.
import { compressSync } from "snappy";
import { beforeAll, describe, expect, it } from "vitest";
import { BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import { generator } from "../support/generator.ts";
import { prometheusHour, type RecordedSeries } from "../support/recorded/prometheus-hour.ts";
import { encodeBody, metadataField, type Series } from "../support/remote-write-body.ts";
import { MINUTE_MS, WatchedServer } from "../support/watched-server.ts";

/** Prometheus sends within some seconds what it has scraped. */
const SENT_AFTER_MS = 1_500;
const SCRAPE_MS = 15_000;
const START_MS = Date.UTC(2026, 0, 5, 10);
const HOUR_MINUTES = 60;
const TOLD_MINUTES = 3;

/** Bodies by the time at which they come. */
type Bodies = ReadonlyArray<readonly [atMs: number, body: Uint8Array]>;

function bodiesOf(series: readonly RecordedSeries[]): Bodies {
  const scrapes = new Map<number, Series[]>();
  for (const { labels, times, values } of series) {
    for (const [i, time] of times.entries()) {
      const scrape = scrapes.get(time) ?? [];
      scrapes.set(time, scrape);
      scrape.push({ labels: Object.entries(labels), samples: [{ time, value: values[i] as number }] });
    }
  }
  const inOrder = [...scrapes].sort(([a], [b]) => a - b);
  return inOrder.map(([time, scrape]) => [time + SENT_AFTER_MS, compressSync(Buffer.from(encodeBody(scrape)))]);
}

/** A server that is given bodies as they come, with the cycles that come due. */
async function played(bodies: Bodies, untilMs: number): Promise<WatchedServer> {
  const watched = await WatchedServer.open((bodies[0] as Bodies[number])[0] - 1_000, 1);
  let next = 0;
  while (watched.nowMs < untilMs) {
    const endMs = watched.nowMs + MINUTE_MS;
    for (; next < bodies.length && (bodies[next] as Bodies[number])[0] < endMs; next++) {
      const [atMs, body] = bodies[next] as Bodies[number];
      watched.machine.clock.advance(Math.max(0, atMs - watched.nowMs));
      let status = 0;
      watched.server.submit(0, BODY_REMOTE_WRITE_1, body, "", (answer) => {
        status = answer.status;
      });
      await watched.server.rest();
      expect(status).toBe(204);
    }
    await watched.cycle(endMs - watched.nowMs);
  }
  return watched;
}

interface Decision {
  readonly at: string;
  readonly metric_name: string;
  readonly outcome: string;
  readonly severity: string;
}

async function pagesOf(watched: WatchedServer, service: string, sinceMs: number): Promise<Decision[]> {
  const query = { service_id: service, since: new Date(sinceMs).toISOString() };
  const { decisions } = (await watched.server.query("alertLedger", query)) as { decisions: Decision[] };
  return decisions.filter(({ outcome }) => outcome === "paged");
}

describe("a real Prometheus for an hour", () => {
  const { types, series } = prometheusHour();
  const startMs = Math.min(...series.map(({ times }) => times[0] as number));
  const services = ["node", "prometheus"];
  let watched: WatchedServer;
  beforeAll(async () => {
    const known = Uint8Array.from(Object.entries(types).flatMap(([name, type]) => [...metadataField(name, type)]));
    watched = await played([[startMs, compressSync(Buffer.from(known))], ...bodiesOf(series)], startMs + HOUR_MINUTES * MINUTE_MS);
  });

  it("pages nobody in its first half hour, and in the second of what is wrong alone: for eight minutes no core has time left", async () => {
    const pages = (await Promise.all(services.map((service) => pagesOf(watched, service, startMs)))).flat();
    expect(pages.map(({ metric_name }) => metric_name)).toEqual(["node_cpu_seconds_total"]);
    expect(pages.filter(({ at }) => Date.parse(at) < startMs + 30 * MINUTE_MS)).toEqual([]);
  });

  it("finds what is bad and what is less so", async () => {
    const severities = new Set((await watched.anomalies()).map(({ severity }) => severity));
    expect(severities.size).toBeGreaterThanOrEqual(2);
  });
});

const SMALL_DISK = { device: "tmpfs", fstype: "tmpfs", mountpoint: "/small" };
const SMALL_DISK_BYTES = 64 * 2 ** 20;
/** Seconds of a second that a core is in these modes for. */
const MODES = { idle: 0.93, user: 0.04, system: 0.02, iowait: 0.005, softirq: 0.005 } as const;

/** A machine with two cores and two disks, scraped for so many minutes: from some minutes on a core has no time left, and the small disk fills in a minute. */
function machine(minutes: number, { coreMinute = Number.POSITIVE_INFINITY, diskMinute = Number.POSITIVE_INFINITY }): RecordedSeries[] {
  const { normal } = generator(5);
  const times = Array.from({ length: (minutes * MINUTE_MS) / SCRAPE_MS }, (_, i) => START_MS + i * SCRAPE_MS);
  const scraped = (name: string, more: Record<string, string>, of: (minute: number, before: number) => number): RecordedSeries => {
    let before = 0;
    const values = times.map((timeMs) => {
      before = of((timeMs - START_MS) / MINUTE_MS, before);
      return before;
    });
    return { labels: { __name__: name, job: "node", instance: "host:9100", ...more }, times, values };
  };
  const added = (name: string, more: Record<string, string>, rate: (minute: number) => number) =>
    scraped(name, more, (minute, before) => before + Math.max(0, rate(minute) * (1 + 0.1 * normal())) * (SCRAPE_MS / 1_000));
  const cores = ["0", "1"].flatMap((cpu) =>
    Object.entries(MODES).map(([mode, share]) =>
      added("node_cpu_seconds_total", { cpu, mode }, (minute) => {
        if (cpu === "1" || minute < coreMinute) return share;
        return mode === "user" ? 0.9 : mode === "idle" ? 0 : share;
      }),
    ),
  );
  const left = (minute: number) => Math.max(0.02, 0.9 - 0.88 * Math.max(0, minute - diskMinute));
  const disks = ["avail", "free"].flatMap((kind) => [
    scraped(`node_filesystem_${kind}_bytes`, SMALL_DISK, (minute) => Math.round(left(minute) * SMALL_DISK_BYTES)),
    scraped(`node_filesystem_${kind}_bytes`, { mountpoint: "/" }, (minute) => 2e10 - 4_096 * Math.round(40 * minute + 20 * normal())),
  ]);
  return [
    ...cores,
    ...disks,
    scraped("node_filesystem_size_bytes", SMALL_DISK, () => SMALL_DISK_BYTES),
    scraped("node_filesystem_size_bytes", { mountpoint: "/" }, () => 4e10),
    scraped("node_memory_MemAvailable_bytes", {}, () => 6e9 + 2e7 * normal()),
    scraped("node_load1", {}, (_, before) => Math.max(0, 0.8 * before + 0.04 + 0.03 * normal())),
    scraped("up", {}, () => 1),
    ...["receive", "transmit"].map((way) => added(`node_network_${way}_bytes_total`, { device: "eth0" }, () => 3_000)),
    added("node_context_switches_total", {}, () => 900),
  ];
}

describe("a calm machine, watched from nothing", () => {
  /** Pages before something goes wrong, and in three minutes from then on; and what people then see. */
  const toldOf = async (faults: { coreMinute?: number; diskMinute?: number }) => {
    const minutes = HOUR_MINUTES + TOLD_MINUTES;
    const watched = await played(bodiesOf(machine(minutes, faults)), START_MS + minutes * MINUTE_MS);
    const pages = await pagesOf(watched, "node", START_MS);
    const faultMs = START_MS + HOUR_MINUTES * MINUTE_MS;
    const { alerts } = (await watched.server.query("alerts", { state: "firing" })) as {
      alerts: Array<{ severity: string; pages: number }>;
    };
    return {
      before: pages.filter(({ at }) => Date.parse(at) < faultMs),
      names: pages.filter(({ at }) => Date.parse(at) >= faultMs).map(({ metric_name }) => metric_name),
      severities: alerts.filter(({ pages: told }) => told > 0).map(({ severity }) => severity),
    };
  };
  it("tells of a core that has no time left within three minutes", async () => {
    const { before, names } = await toldOf({ coreMinute: HOUR_MINUTES });
    expect(before).toEqual([]);
    expect(names).toEqual(["node_cpu_seconds_total"]);
  });
  it("tells of a small disk that fills within three minutes, as high", async () => {
    const { before, names, severities } = await toldOf({ diskMinute: HOUR_MINUTES });
    expect(before).toEqual([]);
    expect(names).toEqual([expect.stringMatching(/^node_filesystem_(?:avail|free)_bytes$/)]);
    expect(severities).toEqual(["high"]);
  });
});
