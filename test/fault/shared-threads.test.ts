/** More engines than cores, so that some share a thread: nothing is lost or stored twice, whatever the number of engines was before. */
import { availableParallelism } from "node:os";
import { afterEach, expect, it } from "vitest";
import { LoadSender } from "../support/load-sender.ts";
import { LoadScript } from "../support/load-sender-script.ts";
import { ServerBench } from "../support/server-process.ts";
import { differencesToScripts, readHoldings } from "./holdings.ts";

const bench = new ServerBench();
afterEach(() => bench.close());

const threads = availableParallelism();
const engines = threads + 3;

/** Of services that lie with many engines. */
const scripts = Array.from({ length: 8 }, (_, seed) => {
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 3600 * 1000;
  return new LoadScript({ seed, serviceId: `service-${seed}`, startMs, requests: 30 });
});

it("keeps what was acknowledged through kill -9 and an orderly stop, with the answers of all its engines", async () => {
  const folder = bench.dataFolder();
  const senders = scripts.map(({ requests }) => new LoadSender(requests));
  const start = (count: number) => bench.start({ DATA_DIR: folder, ENGINES: String(count) });
  const send = (origin: string, end: number) => Promise.all(senders.map((sender) => sender.run(origin, () => sender.next < end)));
  const first = await start(engines);
  expect(first.output).toContain(`${engines} engines in ${threads} thread${threads === 1 ? "" : "s"})`);
  await send(first.origin, 10);
  await first.kill();
  const second = await start(1);
  await send(second.origin, 20);
  await second.kill();
  const third = await start(engines);
  await send(third.origin, 30);
  await third.stop();
  const last = await start(engines);
  expect(senders.every(({ isDone }) => isDone)).toBe(true);
  expect(differencesToScripts(scripts, await readHoldings(last))).toEqual([]);
  await last.stop();
});
