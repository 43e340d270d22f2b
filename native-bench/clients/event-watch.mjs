// Reads GET /api/v1/stream as a client does and notes when it first heard of each planted anomaly. Ends when the server does; then prints
// {events, missed, heardMs: {"service metric": Unix milliseconds}}.
//   node event-watch.mjs <port> <file that is written once the stream is open>
import { writeFileSync } from "node:fs";
import { get } from "node:http";
import { pathToFileURL } from "node:url";
import { isSpike, pairKey } from "../bodies/planted.mjs";

/** Puts the chunks of an event stream together; `take(chunk)` returns the events that are complete now, {event, data} each. */
export class EventReader {
  #rest = "";

  take(/** @type {string} */ chunk) {
    const blocks = (this.#rest + chunk).split("\n\n");
    this.#rest = blocks.pop();
    return blocks.flatMap((block) => {
      const [, event] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data] = /^data: (.*)$/m.exec(block) ?? [];
      return event === undefined || data === undefined ? [] : [{ event, data: JSON.parse(data) }];
    });
  }
}

function watch(port, readyFile) {
  const totals = { events: 0, missed: 0, heardMs: {} };
  const reader = new EventReader();
  const hear = (nowMs, { event, data }) => {
    totals.events++;
    if (event === "missed") totals.missed += data.missed;
    if (event !== "anomaly" || !isSpike(data.verdict.observed)) return;
    totals.heardMs[pairKey(data)] ??= nowMs;
  };
  const end = () => {
    process.stdout.write(`${JSON.stringify(totals)}\n`, () => process.exit(0));
  };
  get({ host: "127.0.0.1", port, path: "/api/v1/stream" }, (response) => {
    if (response.statusCode !== 200) throw new Error(`GET /api/v1/stream answered ${response.statusCode}`);
    writeFileSync(readyFile, "");
    response.setEncoding("utf8").on("data", (chunk) => {
      const nowMs = performance.timeOrigin + performance.now();
      for (const each of reader.take(chunk)) hear(nowMs, each);
    });
    response.on("error", () => {}).on("close", end); // killed: an error, then the close
  }).on("error", (error) => {
    throw error;
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) watch(Number(process.argv[2]), process.argv[3]);
