// The dead-man's switch against a real HTTP server.
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Heartbeat } from "../../../../src/actors/front/heartbeat.ts";
import { COORDINATOR_SLOTS } from "../../../../src/core/layout/counters.ts";
import { Secret } from "../../../../src/core/text/secret.ts";
import { EngineUnavailableError } from "../../../../src/modules/engines/engine-client.ts";
import { CoordinatorCounters } from "../../../../src/modules/state/coordinator-counters.ts";
import { CyclePace } from "../../../../src/modules/watchdog/cycle-pace.ts";
import { Watchdog } from "../../../../src/modules/watchdog/watchdog.ts";
import { until } from "../../../support/until.ts";

const KEY = "very-secret-key";
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function rig(answer: (response: ServerResponse, ping: number) => void) {
  const pings: string[] = [];
  const server = createServer((request, response) => answer(response, pings.push(`${request.method} ${request.url}`)));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const lines: string[] = [];
  const { port } = server.address() as AddressInfo;
  const heartbeat = new Heartbeat(new Secret(`http://127.0.0.1:${port}/${KEY}`), {
    clock: { wallMs: () => 5_000 },
    log: (level, line) => lines.push(`${level} ${line}`),
  });
  return { heartbeat, pings, lines, server };
}

describe("the heartbeat", () => {
  it("pings once for each completed cycle, and never without a new one", async () => {
    const { heartbeat, pings } = await rig((response) => response.end("ok"));
    heartbeat.cycleCompleted(1);
    await until("the heartbeat", () => heartbeat.lastSuccessSeconds > 0);
    heartbeat.cycleCompleted(1);
    heartbeat.cycleCompleted(2);
    await until("the heartbeat", () => pings.length === 2);
    expect(pings).toEqual([`GET /${KEY}`, `GET /${KEY}`]);
    expect([heartbeat.sent, heartbeat.failed, heartbeat.lastSuccessSeconds]).toEqual([2, 0, 5]);
  });

  it("sends one for all cycles that end while a ping is on its way", async () => {
    const held: ServerResponse[] = [];
    const { heartbeat, pings } = await rig((response) => void held.push(response));
    for (const cycle of [1, 2, 3, 4]) heartbeat.cycleCompleted(cycle);
    await until("the heartbeat", () => held.length === 1);
    held[0]?.end();
    await until("the heartbeat", () => held.length === 2);
    held[1]?.end();
    expect(pings).toHaveLength(2);
    expect(heartbeat.sent).toBe(2);
  });

  it("counts a refusal and a lost connection, says so once without the address, and goes on", async () => {
    const { heartbeat, lines } = await rig((response, ping) => {
      if (ping === 1) response.writeHead(500).end();
      else if (ping === 2) response.destroy();
      else response.end();
    });
    for (const cycle of [1, 2, 3]) {
      heartbeat.cycleCompleted(cycle);
      await until("the heartbeat", () => heartbeat.failed + (heartbeat.lastSuccessSeconds > 0 ? 1 : 0) === cycle);
    }
    await until("the heartbeat", () => lines.length === 2);
    expect(heartbeat.failed).toBe(2);
    expect(lines).toEqual([
      "warn the heartbeat of DEADMAN_HEARTBEAT_URL failed: it was answered with 500; the next cycle tries again",
      "info the heartbeat of DEADMAN_HEARTBEAT_URL is answered again",
    ]);
    expect(lines.join()).not.toContain(KEY);
  });

  it("says nothing of the address where it is none", () => {
    const make = () => new Heartbeat(new Secret(`ftp://${KEY}`), { clock: { wallMs: () => 0 }, log: () => undefined });
    expect(make).toThrow(/DEADMAN_HEARTBEAT_URL must be an address/);
    expect(make).not.toThrow(new RegExp(KEY));
  });

  it("falls silent when an engine hangs: no cycle comes to its end, so none is told", async () => {
    const { heartbeat, pings } = await rig((response) => response.end());
    const clock = { ms: 0 };
    let hangs = false;
    const watchdog = new Watchdog(
      { intervalMs: 60_000 },
      [
        {
          name: "pairs",
          every: 1,
          run: async () => {
            if (hangs) throw new EngineUnavailableError(0, new Error("no answer within 5000 ms"));
            return { counts: { evaluated: 0, learning: 0, skipped: {} }, workMs: 0 };
          },
        },
      ],
      {
        pace: new CyclePace(60_000),
        counters: new CoordinatorCounters(new Float64Array(COORDINATOR_SLOTS)),
        nowMs: () => clock.ms,
        monotonicMs: () => clock.ms,
        cycleEnded: (cycles) => heartbeat.cycleCompleted(cycles),
      },
    );
    watchdog.step();
    await until("the heartbeat", () => heartbeat.lastSuccessSeconds > 0);
    hangs = true;
    for (let cycle = 0; cycle < 5; cycle++) {
      clock.ms += 60_000;
      watchdog.step();
      await until("the heartbeat", () => watchdog.facts().failures === cycle + 1);
    }
    expect(pings).toHaveLength(1);
    hangs = false;
    clock.ms += 60_000;
    watchdog.step();
    await until("the heartbeat", () => pings.length === 2);
  });
});
