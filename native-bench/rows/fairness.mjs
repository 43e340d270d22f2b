// One tenant sends a hundred times what its plan allows: what another tenant notices of it, and how exact the limit is.
import { clientCore } from "../clients/detection-turn.mjs";
import { shown } from "../measure.mjs";
import { TOKEN_ENV, tenantHeader } from "../servers/bench-tenants.mjs";
import { JSON_HEADERS, SINGLE_PATH } from "../servers/vedette.mjs";
import { conditions, ratioLine, takeTurns } from "../turns.mjs";

const allowedPerSecond = 100;
const floodPerSecond = 100 * allowedPerSecond;
const neighbourPerSecond = 500;
/** The flood's sender gives way to the neighbour's, on whose core it is: what is measured is the server, not who of the two clients has its turn. */
const floodNice = 0;
/** A second of requests is left out; of the others 50 stand above the p99. */
const coldRequests = 500;
const seconds = 10;

/** @type {import("../turns.mjs").Row} */
export const fairness = {
  name: "fairness",
  what:
    "answer p99 of one tenant, open loop, 500 single records a second over 5 connections for 10 s, alone and beside a tenant whose plan allows 100 requests a " +
    "second and that sends 10,000 over 64 connections; what of these was taken, against 100 a second and one second's worth at the beginning; and what a refusal " +
    "costs the server. Both senders are on one core, so the one that is refused has the lower priority there (scheduler groups of nice 0 and -15): otherwise the " +
    "p99 would be of the clients as much as of the server",
  quick: false,
  async run(context) {
    const file = await context.bodies.get("json-singles", { records: 150_000 });
    const turns = await takeTurns(context, { alone: () => turn(context, file, false), beside: () => turn(context, file, true) });
    const { alone, beside } = turns;
    const p99 = (results) => results.map(({ warm }) => warm.p99Ms);
    const taken = beside.map(({ flood }) => flood.statuses["200"]);
    const allowed = beside.map(({ flood }) => allowedPerSecond * (1 + flood.seconds));
    const refusalMicroseconds = beside.map(({ warm }, repeat) => {
      const before = alone[repeat].warm;
      return (
        (1e6 * (warm.serverCpuSeconds / warm.seconds - before.serverCpuSeconds / before.seconds)) / (floodPerSecond - allowedPerSecond)
      );
    });
    const refused = beside.map(({ flood }) => shown(flood.statuses["429"])).join(", ");
    return {
      lines: [
        { label: "alone, p99", values: p99(alone), unit: "ms", note: conditions(alone) },
        {
          label: "beside 100 times a quota, p99",
          values: p99(beside),
          unit: "ms",
          note: `${refused} requests answered 429; ${conditions(beside)}`,
        },
        ratioLine("beside / alone", p99(beside), p99(alone), { bar: 1.2, lowerIsBetter: true }),
        {
          label: "a refusal",
          values: refusalMicroseconds,
          unit: "us of CPU",
          note: "what the server took more than alone, by the requests refused; half of it is the kernel's, for the write of the answer",
        },
        ratioLine("taken / allowed", taken, allowed, { note: "exact to 1 % where it is 0.99 to 1.01" }),
      ],
      notMeasured: [],
    };
  },
};

/** A fresh server with both tenants; what the neighbour sees, and what became of the flood where there was one. */
async function turn(context, file, floods) {
  const server = await context.startServer("vedette", { env: { ...TOKEN_ENV, PLAN_LIMITS: `starter=${allowedPerSecond}` } });
  try {
    const headersOf = async (tenant, plan) => [...JSON_HEADERS, await tenantHeader(server, tenant, plan)];
    const neighbour = await headersOf("neighbour", "enterprise");
    const greedy = await headersOf("greedy", "starter");
    const sending = { server, file, path: SINGLE_PATH };
    const flooding = floods
      ? context.send({
          ...sending,
          headers: greedy,
          connections: 64,
          requestsPerSecond: floodPerSecond,
          maxRequests: floodPerSecond * (seconds + 2),
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
