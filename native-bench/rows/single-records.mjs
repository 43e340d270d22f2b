// Row 6: requests of one record each, against the least that an HTTP server can do on the same library.

import { serverSession, takeRounds } from "../rounds.mjs";
import { JSON_HEADERS, SINGLE_PATH } from "../servers/vedette.mjs";
import { conditions, ratioLine } from "../turns.mjs";

const coldRequests = 20_000;

/** @type {import("../turns.mjs").Row} */
export const singleRecords = {
  name: "single-records",
  what:
    "single-record POST over 64 and over 5 connections, closed loop, no pipelining, server on one core, against a bare uWebSockets.js handler that " +
    "discards the body and answers 204; 20,000 requests left out",
  quick: true,
  async run(context) {
    const file = await context.bodies.get("json-singles", context.quick ? { records: 300_000 } : {});
    const sending = (connections) => ({ file, path: SINGLE_PATH, headers: JSON_HEADERS, connections, coldRequests });
    const contestants = {};
    for (const connections of [64, 5]) {
      contestants[`vedette, ${connections}`] = () => serverSession(context, "vedette", sending(connections));
      contestants[`bare, ${connections}`] = () => serverSession(context, "bare-uws", { ...sending(connections), loop: true });
    }
    const turns = await takeRounds(context, contestants, context.warm);
    const lines = [64, 5].flatMap((connections) => {
      const [ours, bare] = [turns[`vedette, ${connections}`], turns[`bare, ${connections}`]];
      const rates = (results) => results.map(({ warm }) => warm.requestsPerSecond);
      const name = `${connections} connections`;
      const marks = connections === 64 ? { bar: 0.62, goal: 0.75 } : { note: "reported, not judged" };
      return [
        { label: `Vedette, ${name}`, values: rates(ours), unit: "requests/s", note: conditions(ours) },
        { label: `bare uWebSockets.js, ${name}`, values: rates(bare), unit: "requests/s", note: conditions(bare) },
        ratioLine(`Vedette / bare, ${name}`, rates(ours), rates(bare), marks),
      ];
    });
    return { lines, notMeasured: [] };
  },
};
