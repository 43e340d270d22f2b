// One tenant sends a hundred times what its plan allows: what another tenant notices of it, and how exact the limit is.
import { clientCore } from "../clients/detection-turn.mjs";
import { TOKEN_ENV, tenantHeader } from "../servers/bench-tenants.mjs";
import { JSON_HEADERS, SINGLE_PATH } from "../servers/vedette.mjs";
import { conditions, ratioLine, takeTurns } from "../turns.mjs";

const allowedPerSecond = 100;
const floodPerSecond = 100 * allowedPerSecond;
/** Over these the flood asks: a client with a pool of connections, and one that opens many. */
const floodConnections = { few: 64, many: 1_000 };
const neighbourPerSecond = 500;
/** The flood's sender gives way to the neighbour's, on whose core it is: what is measured is the server, not who of the two clients has its turn. */
const floodNice = 0;
/** Three seconds are left out: V8 compiles some 200 functions in them, a few ms each. Of the other requests 30 stand above the p99. */
const coldRequests = 3 * neighbourPerSecond;
const seconds = 6;
/** The flood begins before the neighbour and ends behind it. */
const floodSeconds = 11;

/** @type {import("../turns.mjs").Row} */
export const fairness = {
  name: "fairness",
  what:
    "answer p99 of one tenant, open loop, 500 single records a second over 5 connections for 6 s, alone and beside a tenant whose plan allows 100 requests a " +
    "second and that asks 10,000 over 64 and over 1,000 connections (the server paces its refusals, so fewer come through); what of these was taken, against 100 " +
    "a second and one second's worth at the beginning; and what the flood costs the server. Both senders are on one core, so the one that is refused has the " +
    "lower priority there (scheduler groups of nice 0 and -15): otherwise the p99 would be of the clients as much as of the server",
  quick: false,
  async run(context) {
    const file = await context.bodies.get("json-singles", { records: 150_000, shards: floodConnections.many });
    const beside = (connections) => () => turn(context, file, connections);
    const turns = await takeTurns(context, { alone: beside(0), few: beside(floodConnections.few), many: beside(floodConnections.many) });
    const p99 = (results) => results.map(({ warm }) => warm.p99Ms);
    const floods = ["few", "many"].flatMap((name) => {
      const over = `over ${floodConnections[name].toLocaleString("en-US")}`;
      const taken = turns[name].map(({ flood }) => flood.statuses["200"]);
      const refused = turns[name].map(({ flood }) => flood.statuses["429"] / floodSeconds);
      const allowed = turns[name].map(() => allowedPerSecond * (1 + floodSeconds));
      return [
        {
          label: `beside 100 times a quota ${over}, p99`,
          values: p99(turns[name]),
          unit: "ms",
          note: conditions(turns[name]),
        },
        ratioLine(`${over}: beside / alone`, p99(turns[name]), p99(turns.alone), { bar: 1.2, lowerIsBetter: true }),
        ratioLine(`${over}: taken / allowed`, taken, allowed, { note: "exact to 1 % where it is 0.99 to 1.01" }),
        { label: `${over}: refusals`, values: refused, unit: "a second", note: "every request has its answer" },
        {
          label: `${over}: the flood's part of the server`,
          values: turns[name].map(({ warm }, repeat) => cores(warm) - cores(turns.alone[repeat].warm)),
          unit: "cores",
          note: "what it took more than alone; what the flood is allowed counts in",
        },
      ];
    });
    return {
      lines: [{ label: "alone, p99", values: p99(turns.alone), unit: "ms", note: conditions(turns.alone) }, ...floods],
      notMeasured: [],
    };
  },
};

function cores({ serverCpuSeconds, seconds: lasted }) {
  return serverCpuSeconds / lasted;
}

/** A fresh server with both tenants; what the neighbour sees, and what became of the flood where it has connections. */
async function turn(context, file, connections) {
  const server = await context.startServer("vedette", { env: { ...TOKEN_ENV, PLAN_LIMITS: `starter=${allowedPerSecond}` } });
  try {
    const headersOf = async (tenant, plan) => [...JSON_HEADERS, await tenantHeader(server, tenant, plan)];
    const neighbour = await headersOf("neighbour", "enterprise");
    const greedy = await headersOf("greedy", "starter");
    const sending = { server, file, path: SINGLE_PATH };
    const flooding =
      connections > 0
        ? context.send({
            ...sending,
            headers: greedy,
            connections,
            requestsPerSecond: floodPerSecond,
            seconds: floodSeconds,
            core: clientCore(context),
            nice: floodNice,
          })
        : undefined;
    const result = await context.send({
      ...sending,
      headers: neighbour,
      connections: 5,
      coldRequests,
      requestsPerSecond: neighbourPerSecond,
      maxRequests: coldRequests + neighbourPerSecond * seconds,
    });
    if (result.firstRefusal !== "") throw new Error(`the neighbour is refused ${JSON.stringify(result.statuses)}: ${result.firstRefusal}`);
    return { ...result, flood: await flooding };
  } finally {
    await server.kill();
  }
}
