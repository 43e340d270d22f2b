// kill -9 in the middle of replays of dead letters, again and again, and in the starts between: in the end every letter whose record may enter has
// entered once, the others are still there, and the jobs have counted right.
import { afterEach, expect, it } from "vitest";
import { beginReplay, finishedReplay, readDeadLetters } from "../support/dead-letter-client.ts";
import { generator } from "../support/generator.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { extent, firstOf } from "../support/test-extent.ts";
import { until } from "../support/until.ts";

const DEAD_LETTERS = 3_000;
const BATCH_RECORDS = 1_000;
const SERVICES = 9;
const KILLS = extent(4, 2);
const HOUR_MS = 3600 * 1000;
/** Every so many letters is one that stays refused, a log, and one of the past that becomes history. */
const [BAD_EVERY, LOG_EVERY] = [10, 7];

const bench = new ServerBench();
afterEach(() => bench.close());

/** Letter n: refused at first for its type, which the correction sets right. */
function recordOf(n: number, baseMs: number, type: unknown) {
  const timestamp = new Date(baseMs + n * 1_000).toISOString();
  const service_id = `s${n % SERVICES}`;
  return n % LOG_EVERY === 0
    ? { service_id, type: type ?? "log", body: `line ${n}`, timestamp }
    : { service_id, type, metric_name: "m", value: n, timestamp };
}

/** Dead letters that can be replayed: the server took them without what made them wrong, a future time of a first server's clock. */
async function makeDeadLetters(client: ServerClient, baseMs: number): Promise<void> {
  for (let from = 0; from < DEAD_LETTERS; from += BATCH_RECORDS) {
    const records = Array.from({ length: BATCH_RECORDS }, (_, i) => {
      const n = from + i;
      return n % BAD_EVERY === 0
        ? { ...recordOf(n, baseMs, "wrong"), value: null }
        : { ...recordOf(n, baseMs, undefined), service_id: undefined, app: `s${n % SERVICES}` };
    });
    expect((await client.postJson("/api/v1/telemetry/batch", records)).json()).toMatchObject({ failed: BATCH_RECORDS });
  }
}

const isGood = (n: number) => n % BAD_EVERY !== 0;

/** Sets letters right in bulk: what an operator would do with a script. */
async function correct(client: ServerClient, baseMs: number): Promise<number> {
  const letters = await until(
    "all letters are stored",
    () => readDeadLetters(client),
    ({ length }) => length === DEAD_LETTERS,
  );
  let corrected = 0;
  for (let at = 0; at < letters.length; at += 8) {
    const some = letters.slice(at, at + 8).filter(({ payload }) => payload.app !== undefined);
    await Promise.all(
      some.map(async ({ dlq_id, payload }) => {
        const n = Math.round((Date.parse(payload.timestamp as string) - baseMs) / 1_000);
        const body = JSON.stringify(recordOf(n, baseMs, n % LOG_EVERY === 0 ? "log" : "metric"));
        const answer = await client.ask({
          method: "PUT",
          path: `/api/v1/dlq/${dlq_id}`,
          headers: { "Content-Type": "application/json" },
          body,
        });
        expect([answer.status, answer.json().replayable]).toEqual([200, true]);
        corrected++;
      }),
    );
  }
  return corrected;
}

async function held(client: ServerClient): Promise<{ values: number[]; bodies: string[] }> {
  const values: number[] = [];
  for (let s = 0; s < SERVICES; s++) {
    const answer = (await client.get(`/api/v1/series/data?service_id=s${s}&metric_name=m&limit=10000&since=1970-01-01T00:00:00Z`)).json();
    values.push(...(answer.points as Array<{ value: number }>).map(({ value }) => value));
  }
  const bodies: string[] = [];
  for (let token = ""; ; ) {
    const page = (
      await client.get(`/api/v1/records?type=log&limit=1000${token === "" ? "" : `&page_token=${encodeURIComponent(token)}`}`)
    ).json();
    bodies.push(...(page.records as Array<{ body: string }>).map(({ body }) => body));
    token = page.page_token;
    if (token === "") return { values: values.sort((a, b) => a - b), bodies: bodies.sort() };
  }
}

it.each(firstOf([1, 2], 1))("letters of seed %i enter once", async (seed) => {
  const { uniform } = generator(seed);
  const folder = bench.dataFolder();
  const baseMs = Math.floor(Date.now() / 1000) * 1000 - 3 * HOUR_MS;
  const start = async (): Promise<[ServerProcess, ServerClient]> => {
    const server = await bench.start({ DATA_DIR: folder, ENGINES: String(1 + Math.floor(uniform() * 3)) });
    return [server, new ServerClient(server.origin)];
  };
  let [server, client] = await start();
  await makeDeadLetters(client, baseMs);
  const good = Array.from({ length: DEAD_LETTERS }, (_, n) => n).filter(isGood);
  expect(await correct(client, baseMs)).toBe(good.length);
  const job = await beginReplay(client, { filter: {} });
  for (let kill = 0; kill < KILLS; kill++) {
    await new Promise((resolve) => setTimeout(resolve, uniform() * 80));
    client.close();
    await server.kill();
    if (uniform() < 0.5) {
      const torn = bench.launch({ DATA_DIR: folder, ENGINES: "2" });
      await new Promise((resolve) => setTimeout(resolve, uniform() * 600));
      await torn.kill();
    }
    [server, client] = await start();
  }
  const done = await finishedReplay(client, job);
  expect(done).toMatchObject({ replayed: good.length, failed: DEAD_LETTERS - good.length, progress: 1 });
  const again = await finishedReplay(client, await beginReplay(client, { filter: {} }));
  expect(again).toMatchObject({ replayed: 0, failed: DEAD_LETTERS - good.length });
  expect((await client.get("/api/v1/debug/dlq-stats")).json().total_failed).toBe(DEAD_LETTERS - good.length);
  const logs = good.filter((n) => n % LOG_EVERY === 0);
  const expected = { values: good.filter((n) => n % LOG_EVERY !== 0), bodies: logs.map((n) => `line ${n}`).sort() };
  expect(await held(client)).toEqual(expected);
  await server.kill();
  [server, client] = await start();
  expect(await held(client)).toEqual(expected);
  expect((await readDeadLetters(client)).length).toBe(DEAD_LETTERS - good.length);
  client.close();
});
