// The row of the bench of queries that says what rules cost: 1,000 rules each minute over 10,000 series, as a share of a core and in the delay of detection. A minute
// with rules lies between two without, on one server and under one load.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compressSync } from "snappy";
import { PATIENCE_MS } from "../../support/patience.ts";
import { encodeBody } from "../../support/remote-write-body.ts";
import { ServerBench, type ServerProcess } from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { sendBody, WRITE_PATHS } from "../prometheus-process.ts";
import { type Figure, quantile } from "./bench-figure.ts";
import { DetectionTurns, fillGauges, listen, type Minutes, Spikes, sendOrdinary } from "./detection-row.ts";
import { processorSeconds } from "./query-rows.ts";

const SERIES = 10_000;
const SERVICES = 100;
const SERIES_PER_BODY = 500;
const STEP_MS = 15_000;
const HISTORY_STEPS = 24;
const GROUPS = 10;
/** Forms of rules; each is there once for each service, and reads its 100 series. */
const FORMS = ["rate(SELECTOR[5m]) > 1e9", "sum(rate(SELECTOR[5m])) > 1e9", "max(SELECTOR) < 0", "avg by (zone) (SELECTOR) < 0"] as const;
const RECORDED = "sum(rate(SELECTOR[5m]))";
const RULES_PER_SERVICE = 10;

/** The file of 1,000 rules: of each ten one is recorded. */
function rulesFile(): string {
  const rulesOf = (service: number) =>
    Array.from({ length: RULES_PER_SERVICE }, (_, index) => {
      const expr = (index === 0 ? RECORDED : (FORMS[index % FORMS.length] as string)).replace(
        "SELECTOR",
        `bench_ruled_total{service_id="service-${service}"}`,
      );
      return index === 0 ? { record: `bench:ruled:rate${service}`, expr } : { alert: `Rule${service}_${index}`, expr, for: "5m" };
    });
  const services = Array.from({ length: SERVICES }, (_, service) => service);
  const groups = Array.from({ length: GROUPS }, (_, group) => ({
    name: `bench-${group}`,
    interval: "1m",
    rules: services.filter((service) => service % GROUPS === group).flatMap(rulesOf),
  }));
  return JSON.stringify({ groups });
}

async function sendRuled(origin: string, timeMs: number): Promise<void> {
  for (let first = 0; first < SERIES; first += SERIES_PER_BODY) {
    const series = Array.from({ length: SERIES_PER_BODY }, (_, at) => ({
      labels: [
        ["__name__", "bench_ruled_total"],
        ["pod", `pod-${first + at}`],
        ["service_id", `service-${(first + at) % SERVICES}`],
        ["zone", `zone-${(first + at) % 10}`],
      ] as const,
      samples: [{ time: timeMs, value: Math.floor(timeMs / 1_000) % 1e6 }],
    }));
    await sendBody(origin + WRITE_PATHS.ours, compressSync(Buffer.from(encodeBody(series))));
  }
}

/** Seconds of processor time, and the delays of detection, of some seconds. */
interface RuledMinutes extends Minutes {
  readonly shareOfCore: number;
}

/** The turns of a server, whose ruled series go on beside them. */
class RuleTurns {
  readonly #server: ServerProcess;
  readonly #turns: DetectionTurns;

  constructor(server: ServerProcess, turns: DetectionTurns) {
    this.#server = server;
    this.#turns = turns;
  }

  async run(): Promise<RuledMinutes> {
    const feeding = setInterval(() => void sendRuled(this.#server.origin, Date.now()), STEP_MS);
    const [fromMs, before] = [performance.now(), processorSeconds(this.#server.pid)];
    try {
      const minutes = await this.#turns.run(0, "");
      const shareOfCore = (processorSeconds(this.#server.pid) - before) / ((performance.now() - fromMs) / 1_000);
      return { ...minutes, shareOfCore };
    } finally {
      clearInterval(feeding);
    }
  }
}

/** Rules that have been evaluated and failed so far. */
async function evaluations(server: ServerProcess): Promise<{ readonly done: number; readonly failed: number; readonly rules: number }> {
  type Answer = { data: { groups: ReadonlyArray<{ rules: ReadonlyArray<{ health: string }> }> } };
  const { data } = await server.get<Answer>("/prometheus/api/v1/rules");
  const rules = data.groups.flatMap((group) => group.rules);
  const of = (health: string) => rules.filter((rule) => rule.health === health).length;
  return { done: of("ok"), failed: of("err"), rules: rules.length };
}

/** Waits for a state of the rules. Gauges go on meanwhile: a value behind a gap is judged by those that follow it only, and none follows a spike. */
async function untilRules(description: string, server: ServerProcess, is: (state: Awaited<ReturnType<typeof evaluations>>) => boolean) {
  const asked = async () => {
    await sendOrdinary(server.origin, Date.now());
    return await evaluations(server);
  };
  await until(description, asked, is, { patienceMs: PATIENCE_MS, everyMs: 1_000 });
}

/** What rules add to the share of a core and to the delay of detection. */
export async function rulesRow(seconds: number): Promise<Figure[]> {
  const bench = new ServerBench();
  const end = new AbortController();
  const folder = mkdtempSync(join(tmpdir(), "vedette-rules-"));
  try {
    const server = await bench.start({ RULES_DIR: folder });
    const nowMs = Date.now();
    for (let step = HISTORY_STEPS; step >= 0; step--) await sendRuled(server.origin, nowMs - step * STEP_MS);
    await fillGauges(server.origin);
    const spikes = new Spikes();
    const listening = listen(server.origin, spikes, end.signal);
    const turns = new RuleTurns(server, new DetectionTurns(server, spikes, seconds));
    await turns.run(); // what a first anomaly runs through is compiled meanwhile
    const before = await turns.run();
    writeFileSync(join(folder, "bench.json"), rulesFile());
    await untilRules("each rule has been evaluated once", server, ({ done, failed, rules }) => rules > 0 && done + failed === rules);
    const beside = await turns.run();
    const { failed } = await evaluations(server);
    rmSync(join(folder, "bench.json"));
    await untilRules("there are no rules", server, ({ rules }) => rules === 0);
    const between = await turns.run();
    end.abort();
    await listening;
    return figuresOf([before, between], beside, failed);
  } finally {
    end.abort();
    await bench.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function figuresOf(without: readonly RuledMinutes[], beside: RuledMinutes, failed: number): Figure[] {
  const what = `${SERVICES * RULES_PER_SERVICE} rules each minute over ${SERIES} series`;
  const delays = without.flatMap(({ latenciesMs }) => [...latenciesMs]);
  const [own, p99] = [quantile(delays, 0.99), quantile(beside.latenciesMs, 0.99)];
  const shares = without.map(({ shareOfCore }) => 100 * shareOfCore);
  const ownShare = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const share = 100 * beside.shareOfCore;
  const lost = beside.planted - beside.latenciesMs.length;
  return [
    {
      what,
      value: share - ownShare,
      unit: "% of a core",
      bar: 15,
      note: `without ${shares.map((one) => one.toFixed(1)).join(" and ")} %, beside ${share.toFixed(1)} %`,
    },
    {
      what: `${what}, detection p99 above without`,
      value: p99 - own,
      unit: "ms",
      bar: 25,
      note: `without ${own.toFixed(1)} ms, beside ${p99.toFixed(1)} ms`,
    },
    { what: `${what}, spikes lost`, value: lost, unit: `of ${beside.planted}`, bar: 0, goal: 0 },
    { what: `${what}, rules that failed`, value: failed, unit: "", bar: 0, goal: 0 },
  ];
}
