// Runs of runbooks under kill -9 at random moments: no request of a step that is not idempotent is made twice, and each run ends in a state that is true, by what the
// receiver has heard. RUNBOOK_KILLED_RUNS=n and CRASH_SEED=n set how many runs there are, forty for each kill, and which;
// a kill takes some five seconds.
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const RUNS = Number(process.env.RUNBOOK_KILLED_RUNS ?? 40);
const SEED = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1_000_000));
/** A runbook runs ten times in an hour, and runs of one kill are of so many runbooks. */
const RUNS_PER_KILL = 40;
const RUNBOOKS_PER_KILL = 4;
/** What the runs of one kill take where nothing kills them. */
const RUN_MS = 400;
const ANSWER_MS = 25;
/** By the place of its step; the third is idempotent. */
const IDEMPOTENT = 2;

const bench = new ServerBench();
const heard = new Map<string, number>();
let receiver: Server;
let random = SEED;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const key = String(request.headers["idempotency-key"]);
    heard.set(key, (heard.get(key) ?? 0) + 1);
    request.resume();
    setTimeout(() => response.end("ok"), draw(ANSWER_MS));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => receiver.once("listening", resolve));
});
afterAll(async () => {
  receiver.close();
  await bench.close();
});

/** 0 to `most`: a linear congruential generator. */
function draw(most: number): number {
  random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
  return (random / 2 ** 32) * most;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all shapes
type Asking = (method: string, path: string, body?: unknown) => Promise<any>;

function asking(server: ServerProcess, folder: string): Asking {
  const authorization = `Bearer ${readFileSync(join(folder, "admin-token"), "utf8").trim()}`;
  return async (method, path, body) => {
    const headers = { authorization, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${server.origin}/api/v1/runbooks${path}`, { method, headers, ...sent });
    expect([path, response.status]).toEqual([path, response.status < 300 ? response.status : "a success"]);
    return response.json();
  };
}

function runbook(id: string) {
  const { port } = receiver.address() as AddressInfo;
  const http = (name: string, idempotent: boolean) => ({ name, type: "http", url: `http://127.0.0.1:${port}/${name}`, idempotent });
  return { id, name: id, steps: [http("a", false), http("b", false), http("c", true), { type: "annotate", text: "d" }, http("e", false)] };
}

interface Run {
  readonly execution_id: string;
  readonly state: string;
  readonly steps: ReadonlyArray<{ readonly type: string; readonly state: string }>;
}

/** What is not true of a run that is over; undefined where all of it is. */
function untruth({ execution_id: id, state, steps }: Run): string | undefined {
  for (const [place, step] of steps.entries()) {
    if (step.type !== "http") continue;
    const count = heard.get(`${id}-${place}`) ?? 0;
    if (place !== IDEMPOTENT && count > 1) return `step ${place} was done ${count} times`;
    if (step.state === "succeeded" && count === 0) return `step ${place} says that it is done, and is not`;
    if (["waiting", "skipped"].includes(step.state) && count > 0) return `step ${place} says that it is not done, and is`;
  }
  const isDone = steps.every((step) => step.state === "succeeded");
  if (state === "succeeded") return isDone ? undefined : "not all of its steps are done";
  return state === "interrupted" && steps.some((step) => step.state === "interrupted") ? undefined : `it is ${state}`;
}

async function overAll(ask: Asking, ids: readonly string[]): Promise<Run[]> {
  const running = () => ask("GET", "/executions?state=running&limit=1");
  await until("all runs come to an end", running, ({ total }) => total === 0, { patienceMs: PATIENCE_MS });
  return Promise.all(ids.map((id) => ask("GET", `/executions/${id}`)));
}

describe("runs under kill -9", () => {
  const tally: Record<string, number> = {};
  const kills = Math.ceil(RUNS / RUNS_PER_KILL);
  for (let kill = 0; kill < kills; kill++) {
    it(`repeat no request and end in a state that is true, kill ${kill + 1}; replay: CRASH_SEED=${SEED}`, async () => {
      const folder = bench.dataFolder();
      const settings = { ENGINES: "1", WEBHOOK_ALLOW_PRIVATE: "true", DATA_DIR: folder };
      const server = await bench.start(settings);
      const ask = asking(server, folder);
      for (let one = 0; one < RUNBOOKS_PER_KILL; one++) await ask("POST", "", runbook(`r${one}`));
      const begin = async (one: number): Promise<string> => {
        const { execution_id: id } = await ask("POST", `/r${one % RUNBOOKS_PER_KILL}/execute`, {});
        return id;
      };
      const ids = await Promise.all(Array.from({ length: RUNS_PER_KILL }, (_, one) => begin(one)));
      await new Promise((resolve) => setTimeout(resolve, draw(RUN_MS)));
      const { total: killed } = await ask("GET", "/executions?state=running&limit=1");
      expect(await server.kill()).toBe("SIGKILL");
      const again = await bench.start(settings);
      const runs = await overAll(asking(again, folder), ids);
      expect(runs.map((run) => [run.execution_id, untruth(run)]).filter(([, why]) => why !== undefined)).toEqual([]);
      expect(runs.some(({ state }) => state === "succeeded")).toBe(true);
      for (const { state } of runs) tally[state] = (tally[state] ?? 0) + 1;
      tally.under_way_at_a_kill = (tally.under_way_at_a_kill ?? 0) + killed;
      if (RUNS > RUNS_PER_KILL) console.log(JSON.stringify({ kills: kill + 1, requests: heard.size, ...tally }));
      await again.kill();
    });
  }
});
