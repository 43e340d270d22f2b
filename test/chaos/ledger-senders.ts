// Senders that know what was acknowledged: JSON batches and remote-write, each body repeated until it is taken or refused, as agents do.
import { compressSync } from "snappy";
import { Pool } from "undici";
import type { Random } from "../fuzz/input/random.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { REMOTE_WRITE_HEADERS } from "../support/server-client.ts";
import type { ChaosServer } from "./chaos-server.ts";
import type { Ledger, LedgerSeries } from "./ledger.ts";

const PERIOD_MS = 100;
const RETRY_MS = 200;
const SERIES = 10;
/** Of so many values one is a spike. */
const SPIKE_ONE_IN = 400;

interface Sample {
  readonly series: LedgerSeries;
  readonly timeMs: number;
  readonly value: number;
}

interface Body {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly samples: readonly Sample[];
  readonly log?: { readonly serviceId: string; readonly timeMs: number; readonly text: string };
}

/** Sends bodies one after the other and writes down what was acknowledged. */
export class LedgerSender {
  /** Answers that no server should give, by what they were. */
  readonly wrong = new Map<string, number>();
  readonly #ledger: Ledger;
  readonly #make: (timeMs: number) => Body;
  readonly #pool: Pool;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(server: ChaosServer, ledger: Ledger, make: (timeMs: number) => Body) {
    this.#ledger = ledger;
    this.#make = make;
    this.#pool = new Pool(server.origin, { connections: 1, headersTimeout: 20_000, bodyTimeout: 20_000 });
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    await this.#pool.destroy();
  }

  async #run(): Promise<void> {
    let lastMs = 0;
    while (!this.#isStopped) {
      lastMs = Math.max(lastMs + 1, Date.now());
      await this.#deliver(this.#make(lastMs));
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    }
  }

  async #deliver(body: Body): Promise<void> {
    while (!this.#isStopped) {
      const status = await this.#send(body);
      if (status !== 0 && status !== 503 && status !== 429) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** The status; 0 without an answer. */
  async #send(body: Body): Promise<number> {
    try {
      const { statusCode, body: answer } = await this.#pool.request({
        method: "POST",
        path: body.path,
        headers: body.headers,
        body: body.bytes,
      });
      const text = await answer.text();
      if (statusCode < 300 && !isPartial(text)) this.#acknowledge(body);
      else if (statusCode === 500) this.wrong.set(text, (this.wrong.get(text) ?? 0) + 1);
      return statusCode;
    } catch {
      return 0;
    }
  }

  #acknowledge({ samples, log }: Body): void {
    for (const { series, timeMs, value } of samples) this.#ledger.sample(series, timeMs, value);
    if (log !== undefined) this.#ledger.log(log.serviceId, log.timeMs, log.text);
  }
}

/** Whether a batch was taken in part only. */
const isPartial = (text: string): boolean => /"failed":[1-9]/.test(text);

/** A walk around 100 with spikes. */
function walk(random: Random): number {
  const noise = random.below(4_000) / 1_000;
  return random.oneIn(SPIKE_ONE_IN) ? 400 + noise : 100 + noise;
}

/** Makes JSON batches of ten series of a service, with a line of a log. */
export function jsonBatches(serviceId: string, random: Random): (timeMs: number) => Body {
  let number = 0;
  return (timeMs) => {
    const samples = Array.from({ length: SERIES }, (_, index) => ({
      series: { service_id: serviceId, metric_name: "latency_ms", attributes: { instance: `host-${index}` } },
      timeMs,
      value: walk(random),
    }));
    const timestamp = new Date(timeMs).toISOString();
    const log = { serviceId, timeMs, text: `order ${number++} placed` };
    const records = [
      ...samples.map(({ series, value }) => ({ ...series, type: "metric", value, timestamp })),
      { service_id: serviceId, type: "log", body: log.text, timestamp },
    ];
    const bytes = Buffer.from(JSON.stringify(records));
    return { path: "/api/v1/telemetry/batch", headers: { "Content-Type": "application/json" }, bytes, samples, log };
  };
}

/** Makes bodies of remote-write 1.0 of ten series of a job. */
export function remoteWrites(job: string, random: Random): (timeMs: number) => Body {
  return (timeMs) => {
    const samples = Array.from({ length: SERIES }, (_, index) => ({
      series: { service_id: job, metric_name: "queue_depth", attributes: { instance: `host-${index}` } },
      timeMs,
      value: walk(random),
    }));
    const body = encodeBody(
      samples.map(({ series, value }) => ({
        labels: [
          ["__name__", series.metric_name],
          ["instance", series.attributes.instance],
          ["job", job],
        ],
        samples: [{ time: timeMs, value }],
      })),
    );
    return { path: "/api/v1/rwmetrics/write", headers: REMOTE_WRITE_HEADERS, bytes: compressSync(Buffer.from(body)) as Buffer, samples };
  };
}
