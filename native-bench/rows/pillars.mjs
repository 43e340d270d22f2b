// Many mapped services: what a PUT of the map takes, what a tick of the vectorizer takes, and what ticks do to the detection of anomalies meanwhile.
import { seriesPerService, serviceName } from "../bodies/mapped-services.mjs";
import { detectionTurn } from "../clients/detection-turn.mjs";
import { firstTick, watchTicks } from "../clients/tick-watch.mjs";
import { shown } from "../measure.mjs";
import { ratioLine, takeTurns } from "../turns.mjs";

const services = { whole: 100_000, quick: 10_000 };
const entriesPerPut = 10_000;
/** One in each request: a hundred a second. */
const planting = { every: 1 };
/** Spikes sent, of which the first 2,000 are left out. */
const plants = { whole: 4_000, quick: 2_500 };
const requestsPerSecond = 100;
/** Of the requests that are left out. */
const earlyPerSecond = 400;

/** @type {import("../turns.mjs").Row} */
export const pillars = {
  name: "pillars",
  what:
    `${shown(services.whole)} services with ${seriesPerService} series each (--quick: ${shown(services.quick)}): PUT of ${shown(entriesPerPut)} entries, each of which changes, with all of them stored already; work and ` +
    `duration of a tick of the vectorizer, twice as often as by default; detection latency of planted anomalies at ${shown(requestsPerSecond * 2_000)} samples/s beside it (what is left out comes at ${shown(earlyPerSecond * 2_000)}), and with the same services unmapped, so that no tick has ` +
    "anything to do",
  quick: false,
  async run(context) {
    const size = context.quick ? "quick" : "whole";
    // Of this run: a tick looks at the last 15 minutes.
    const endMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
    const files = {
      services: await context.bodies.get("mapped-services", { services: services[size], endMs }),
      planted: await context.bodies.get("planted", { ...planting, plants: plants[size] }),
    };
    const turn = (isMapped) => () => pillarTurn(context, files, { isMapped, count: services[size], requests: plants[size] });
    const turns = await takeTurns(context, { unmapped: turn(false), mapped: turn(true) });
    const ticks = turns.mapped.map(({ bystanders }) => bystanders);
    const counts = `${shown(Math.min(...ticks.map(({ ticks: n }) => n)))} ticks at least`;
    return {
      lines: [
        {
          label: `PUT of ${shown(entriesPerPut)} entries`,
          values: ticks.map(({ putMs }) => putMs),
          unit: "ms",
          bar: 1_000,
          lowerIsBetter: true,
        },
        {
          label: "work of a tick, all threads",
          values: ticks.map(({ workMs }) => workMs),
          unit: "ms",
          bar: 2_000,
          lowerIsBetter: true,
          note: `mean; ${counts}, ${shown(ticks[0].streams)} streams; the first, left out: ${shown(Math.max(...ticks.map(({ firstMs }) => firstMs)))} ms; time that bystanders took counts in`,
        },
        {
          label: "duration of a tick",
          values: ticks.map(({ durationMs }) => durationMs),
          unit: "ms",
          note: "the last one, beside the load",
        },
        ...["between", "within"].map((when) => ({
          label: `detection p99, stored, ${when} ${when === "within" ? "a tick" : "ticks"}`,
          values: ticks.map((figures) => figures[when].p99Ms),
          unit: "ms",
          note: `${shown(Math.min(...ticks.map((figures) => figures[when].count)))} anomalies at least; same server, same minute`,
        })),
        ...["unmapped", "mapped"].map((name) => latencyLine(name, turns[name])),
        ...["unmapped", "mapped"].map((name) => seenLine(name, turns[name])),
        ratioLine("as the sender sees it, p99: mapped / unmapped", seenP99(turns.mapped), seenP99(turns.unmapped), {
          bar: 1.2,
          lowerIsBetter: true,
        }),
      ],
      notMeasured: [],
    };
  },
};

function latencyLine(name, turns) {
  const bounds = turns.map(({ server }) => `${shown(server.boundMs)} ms`).join(", ");
  return {
    label: `detection p99, stored, ${name}`,
    values: turns.map(({ server }) => server.p99Ms),
    unit: "ms",
    note: `in its bucket, at most ${bounds}`,
  };
}

function seenLine(name, turns) {
  return { label: `detection p99, as the sender sees it, ${name}`, values: seenP99(turns), unit: "ms" };
}

const seenP99 = (turns) => turns.map(({ seen }) => seen.p99Ms);

function pillarTurn(context, files, { isMapped, count, requests }) {
  return detectionTurn(context, {
    file: files.planted,
    planting,
    requestsPerSecond,
    earlyPerSecond,
    requests,
    // The Watchdog has rows of its own: its cycles come at other moments of a turn that maps services first.
    env: { VECTORIZER_INTERVAL_SECONDS: "15", SERIES_LIMIT: "1100000", WATCHDOG_INTERVAL_SECONDS: "3600" },
    during: async (server) => {
      const loaded = await context.send({ server, file: files.services, connections: 5 });
      if (loaded.firstRefusal !== "") throw new Error(`refused: ${loaded.firstRefusal}`);
      if (!isMapped) return async () => undefined;
      const putMs = await mapAll(server, count);
      const finish = watchTicks(server, await firstTick(server));
      return async () => ({ putMs, ...(await finish()) });
    },
  });
}

/** Maps all services, then the first ones anew; how long that took. */
async function mapAll(server, count) {
  for (let from = 0; from < count; from += entriesPerPut) await putMap(server, from, "shop");
  const startMs = performance.now();
  await putMap(server, 0, "market");
  return performance.now() - startMs;
}

async function putMap(server, from, product) {
  const entries = Array.from({ length: entriesPerPut }, (_, i) => ({
    service_id: serviceName(from + i),
    tenant_id: `tenant-${(from + i) % 500}`,
    product_id: `${product}-${(from + i) % 5_000}`,
    custom_keys: { region: `region-${i % 20}` },
  }));
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ entries });
  const response = await fetch(`http://127.0.0.1:${server.port}/api/v1/pillars/service-map`, { method: "PUT", headers, body });
  if (response.status !== 200) throw new Error(`PUT of the map: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}
