// A tenant that sends a small batch 20 times a second and minds nobody, in a process of its own so that nothing else is in its times. Told of no outage: it
// sends what became of each request to its parent, which knows.
import { Pool } from "undici";

/** What became of a request: its status, 0 without an answer, and the time that took from when it was due. */
export interface QuietAnswer {
  readonly status: number;
  readonly ms: number;
}

/** Requests a second times that a request may take: more wait for no answer. */
const WAITING_MAX = 400;
const PERIOD_MS = 50;
const RECORDS = 20;

function body(timeMs: number): string {
  const timestamp = new Date(timeMs).toISOString();
  return JSON.stringify(
    Array.from({ length: RECORDS }, (_, index) => ({
      service_id: "quiet",
      metric_name: "latency_ms",
      value: 100 + (timeMs % 7),
      timestamp,
      attributes: { instance: `host-${index}` },
    })),
  );
}

function main(origin: string, apiKey: string): void {
  const pool = new Pool(origin, { connections: 8, pipelining: 1 });
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${apiKey}` };
  let waiting = 0;
  const send = async () => {
    const dueMs = performance.now();
    waiting++;
    let status = 0;
    try {
      const answer = await pool.request({ method: "POST", path: "/api/v1/telemetry/batch", headers, body: body(Date.now()) });
      await answer.body.dump();
      status = answer.statusCode;
    } catch {
      // Its parent knows whether that was planned.
    }
    waiting--;
    process.send?.({ status, ms: performance.now() - dueMs } satisfies QuietAnswer);
  };
  setInterval(() => {
    if (waiting < WAITING_MAX) void send();
  }, PERIOD_MS);
  process.on("disconnect", () => process.exit(0));
}

const [origin = "", apiKey = ""] = process.argv.slice(2);
main(origin, apiKey);
