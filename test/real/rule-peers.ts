// Debian's Prometheus and this server with one file of rules: both are sent the same samples each second, and asked for their alerts as often.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compressSync } from "snappy";
import { PrometheusProcess, sendBody, WRITE_PATHS } from "../promql/prometheus-process.ts";
import { encodeBody, type Series } from "../support/remote-write-body.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { TEMPLATED_LABELS, TEMPLATED_MANY, TEMPLATED_VALUE, TEMPLATES } from "./rule-templates.ts";

/** Of the group of rules. */
export const INTERVAL_SECONDS = 5;
/** How often both are sent samples and asked. */
export const LOOK_MS = 1_000;
const EXTERNAL_URL = "http://rules.example";
const SERVICES = 20;
/** A level is above for so many of its seconds, each service's beginning two seconds behind the one before it. */
const PERIOD_SECONDS = 44;
const ABOVE_SECONDS = 22;

const RULES = {
  groups: [
    {
      name: "compared",
      interval: `${INTERVAL_SECONDS}s`,
      rules: [
        { record: "service:level:max", expr: "max by (service_id) (level)" },
        { alert: "Now", expr: "service:level:max > 50", labels: { severity: "warning" } },
        { alert: "Held", expr: "level > 50", for: "10s", labels: { severity: "critical", team: "{{ $labels.service_id }}-team" } },
        { alert: "Kept", expr: 'level{service_id=~"service-[0-4]"} > 50', keep_firing_for: "10s" },
        { alert: "Many", expr: 'count(level{service_id=~"service-[0-9]"} > 50) > 4' },
        { alert: "Templates", expr: "templated_value > 0", annotations: TEMPLATES },
      ],
    },
  ],
};

/** An alert as both show it. */
interface ShownAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
}

/** What a side showed at a time. */
export interface TimedAlerts {
  readonly atMs: number;
  readonly alerts: readonly ShownAlert[];
}

/** Both, and what they have shown. */
export class RulePeers {
  readonly theirs: TimedAlerts[] = [];
  readonly ours: TimedAlerts[] = [];
  readonly #bench = new ServerBench();
  readonly #folder = mkdtempSync(join(tmpdir(), "vedette-rules-"));
  #prometheus: PrometheusProcess | undefined;
  #server: ServerProcess | undefined;

  /** Starts both and watches them. */
  async watch(minutes: number): Promise<void> {
    const rules = join(this.#folder, "rules");
    const config = join(this.#folder, "prometheus.json");
    mkdirSync(rules);
    writeFileSync(join(rules, "compared.json"), JSON.stringify(RULES));
    writeFileSync(config, JSON.stringify({ rule_files: [join(rules, "compared.json")] }));
    this.#server = await this.#bench.start({ RULES_DIR: rules, PUBLIC_URL: EXTERNAL_URL });
    this.#prometheus = await PrometheusProcess.start(config, [`--web.external-url=${EXTERNAL_URL}`, "--web.route-prefix=/"]);
    for (let look = 0, startMs = performance.now(); look < minutes * 60; look++) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, startMs + look * LOOK_MS - performance.now())));
      await this.#send(look, Date.now());
      await Promise.all([
        this.#look(`${this.#prometheus.origin}/api/v1/alerts`, this.theirs),
        this.#look(`${this.#server.origin}/prometheus/api/v1/alerts`, this.ours),
      ]);
    }
  }

  async close(): Promise<void> {
    this.#prometheus?.end();
    await this.#bench.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #send(second: number, timeMs: number): Promise<void> {
    const body = compressSync(Buffer.from(encodeBody(samplesOf(second, timeMs))));
    await Promise.all([
      sendBody(this.#prometheus?.origin + WRITE_PATHS.theirs, body),
      sendBody(this.#server?.origin + WRITE_PATHS.ours, body),
    ]);
  }

  async #look(url: string, looks: TimedAlerts[]): Promise<void> {
    const answer = (await (await fetch(url)).json()) as { readonly data: { readonly alerts: ShownAlert[] } };
    looks.push({ atMs: Date.now(), alerts: answer.data.alerts });
  }
}

function samplesOf(second: number, timeMs: number): Series[] {
  // No fault is as short as `for` and an interval: one side alone would see it fire.
  const isAbove = (service: number) => second >= 2 * service && (second - 2 * service) % PERIOD_SECONDS < ABOVE_SECONDS;
  const levels = Array.from({ length: SERVICES }, (_, service) =>
    seriesOf("level", { service_id: `service-${service}` }, timeMs, isAbove(service) ? 60 + service : 40),
  );
  const many = Object.entries(TEMPLATED_MANY).map(([service, value]) => seriesOf("templated_many", { service_id: service }, timeMs, value));
  return [...levels, ...many, seriesOf("templated_value", TEMPLATED_LABELS, timeMs, TEMPLATED_VALUE)];
}

function seriesOf(name: string, labels: Readonly<Record<string, string>>, time: number, value: number): Series {
  return { labels: [["__name__", name], ...Object.entries(labels)], samples: [{ time, value }] };
}
