// Telling people: from a stored alert to its receiver, and what a flood for receivers that are slow or dead costs the others.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { shown } from "../measure.mjs";
import { converse } from "../servers/server-process.mjs";
import { takeTurns } from "../turns.mjs";

const clientFile = fileURLToPath(new URL("../clients/told-alerts.mjs", import.meta.url));
const perSecond = 100;
const seconds = { whole: 30, quick: 5 };
/** The first, left out: the connection is opened, the notifier's code is compiled. */
const cold = 300;
const flood = { whole: { alerts: 10_000, seconds: 60 }, quick: { alerts: 1_000, seconds: 6 } };
/** Those that are told of beside the flood. */
const othersPerSecond = 10;
const othersSeconds = { whole: 20, quick: 4 };
const mebibyte = 2 ** 20;
const key = "0123456789abcdef0123456789abcdef";

/** @type {import("../turns.mjs").Row} */
export const notifyLatency = {
  name: "notify-latency",
  what:
    `${perSecond} alerts a second by POST /api/v1/alerts/webhook, each of a service of its own, a pager without a limit: from the alert as it is stored to the first byte at the receiver, ` +
    `${seconds.whole} s, the first ${cold} left out`,
  quick: false,
  async run(context) {
    const size = context.quick ? "quick" : "whole";
    const turns = await takeTurns(context, {
      told: () =>
        withServer(context, async ({ ask, origin }) => {
          const load = { origin, perSecond, seconds: seconds[size] + cold / perSecond, cold, mix: [["quick", 1]] };
          return (await ask(load)).quick;
        }),
    });
    const of = (read) => turns.told.map(read);
    const ms = { unit: "ms", lowerIsBetter: true };
    return {
      lines: [
        { label: "alert stored to first byte, p99", values: of(({ p99 }) => p99), bar: 50, ...ms },
        { label: "the same, p50", values: of(({ p50 }) => p50), note: `max ${of(({ max }) => shown(max)).join(", ")} ms`, ...ms },
      ],
      notMeasured: [],
    };
  },
};

/** @type {import("../turns.mjs").Row} */
export const notifyFlood = {
  name: "notify-flood",
  what:
    `${shown(flood.whole.alerts)} alerts in a minute, half for a chat that takes one message a second, half for one that never answers, and ${othersPerSecond} a second for a pager without a limit beside them: ` +
    "what the resident memory grows by, and the pager's p99 above that of the same pager alone before. Beside it the same flood for chats that take all of it: what the alerts themselves take",
  quick: false,
  async run(context) {
    const size = context.quick ? "quick" : "whole";
    const turns = await takeTurns(context, {
      flood: () => floodTurn(context, size, { slow: "slow", dead: "dead" }),
      control: () => floodTurn(context, size, { slow: "slow", dead: "slow", limit: 1000 }),
    });
    const of = (name, read) => turns[name].map(read);
    return {
      lines: [
        {
          label: "resident memory, growth",
          values: of("flood", ({ grownMib }) => grownMib),
          unit: "MiB",
          bar: 50,
          lowerIsBetter: true,
          note: `${of("flood", ({ depth }) => shown(depth)).join(", ")} messages wait at the end`,
        },
        {
          label: "the same with receivers that take all",
          values: of("control", ({ grownMib }) => grownMib),
          unit: "MiB",
          lowerIsBetter: true,
        },
        {
          label: "pager's p99 beside the flood, above that alone",
          values: of("flood", ({ alone, beside }) => beside.p99 - alone.p99),
          unit: "ms",
          bar: 25,
          lowerIsBetter: true,
          note: `alone ${of("flood", ({ alone }) => shown(alone.p99)).join(", ")} ms, beside ${of("flood", ({ beside }) => shown(beside.p99)).join(", ")} ms`,
        },
      ],
      notMeasured: [],
    };
  },
};

async function floodTurn(context, size, { slow, dead, limit = 1 }) {
  const rules = [
    { name: "slow", priority: 1, service_pattern: "slow-*", channels: ["chat:slow"] },
    { name: "dead", priority: 2, service_pattern: "dead-*", channels: ["chat:dead"] },
  ];
  const settings = (ports) => ({
    CHAT_WEBHOOKS: `slow=http://127.0.0.1:${ports[slow]}/,dead=http://127.0.0.1:${ports[dead]}/`,
    ROUTING_DEFAULT_CHANNELS: "pager",
    NOTIFY_LIMITS: `chat=${limit},pager=1000`,
  });
  return withServer(
    context,
    async ({ ask, origin, server }) => {
      for (const rule of rules) await post(origin, "/api/v1/routing/rules", rule, server);
      const others = { origin, perSecond: othersPerSecond, seconds: othersSeconds[size], cold: 5 * othersPerSecond, mix: [["quick", 1]] };
      const { quick: alone } = await ask(others);
      const before = residentMib(server.pid);
      const { alerts, seconds: took } = flood[size];
      const share = othersPerSecond / (alerts / took + othersPerSecond);
      const mix = [
        ["slow", (1 - share) / 2],
        ["dead", (1 - share) / 2],
        ["quick", share],
      ];
      const { quick: beside } = await ask({ origin, perSecond: alerts / took + othersPerSecond, seconds: took, mix, perRequest: 5 });
      const depth = (await server.metrics()).sum("vedette_outbox_depth");
      return { alone, beside, grownMib: residentMib(server.pid) - before, depth };
    },
    settings,
  );
}

/** A server whose pager leads to the client; `settings` adds to its environment. */
async function withServer(context, turn, settings = () => ({})) {
  const client = converse(process.execPath, [clientFile], context.pin.sender);
  try {
    const { ports } = JSON.parse(await client.line());
    const env = {
      PAGER_ROUTING_KEY: key,
      PAGER_URL: `http://127.0.0.1:${ports.quick}/v2/enqueue`,
      NOTIFY_LIMITS: "pager=1000",
      ...settings(ports),
    };
    const server = await context.startServer("vedette", { env, keepData: false });
    const ask = async (load) => {
      client.say(JSON.stringify(load));
      return JSON.parse(await client.line());
    };
    try {
      return await turn({ ask, origin: `http://127.0.0.1:${server.port}`, server });
    } finally {
      await server.kill();
    }
  } finally {
    client.kill();
  }
}

async function post(origin, path, body, { dataDir }) {
  const token = readFileSync(`${dataDir}/admin-token`, "utf8").trim();
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const answer = await fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
}

/** Without pages of the stores' files, which are the kernel's cache. */
function residentMib(pid) {
  const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  return (of("RssAnon") + of("RssShmem")) / mebibyte;
}
