// The server's own log as an operator's collector gets it, and the log of a start.
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { followStart } from "../../src/server/start-report.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench } from "../support/server-process.ts";

const bench = new ServerBench();
afterAll(() => bench.close());

interface Line {
  readonly time: string;
  readonly level: string;
  readonly component: string;
  readonly msg: string;
}

/** Lines of the output, each of which must be JSON. */
function linesOf(output: string): Line[] {
  return output
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

describe("where standard output is no terminal", () => {
  it("the log is JSON lines with time, level and component, from the start to the stop", async () => {
    const server = await bench.start({ LOG_FORMAT: "auto", ENGINES: "1" });
    const { origin } = server;
    await server.stop();
    const lines = linesOf(server.output);
    for (const line of lines) {
      expect(line).toMatchObject({ level: "info", component: expect.stringMatching(/^[a-z-]+$/), msg: expect.any(String) });
      expect(new Date(line.time).toISOString()).toBe(line.time);
    }
    const [first, ...others] = lines;
    expect(first).toMatchObject({ component: "server", log_segments: 0, series_mib: expect.any(Number) });
    expect(others).toContainEqual(expect.objectContaining({ component: "store", msg: "the stores are open" }));
    expect(others).toContainEqual(expect.objectContaining({ component: "server", address: origin, start_seconds: expect.any(Number) }));
    expect(lines.at(-1)?.msg).toBe("stopped");
  });

  it("LOG_LEVEL holds for every line", async () => {
    const taken = createServer();
    await once(taken.listen(0, "127.0.0.1"), "listening");
    const OTLP_PORT = String((taken.address() as AddressInfo).port);
    const server = bench.launch({
      LOG_FORMAT: "json",
      LOG_LEVEL: "warn",
      ENGINES: "1",
      OTLP_PORT,
      OTLP_GRPC_PORT: "0",
      HTTP_ENGINE: "node",
    });
    await expect.poll(() => server.output, { timeout: PATIENCE_MS }).toContain("OTLP_PORT");
    server.signal("SIGINT");
    await server.ended;
    taken.close();
    expect(linesOf(server.output).map(({ level }) => level)).toEqual(["warn"]);
  });

  it("a start that fails ends with one fatal line", async () => {
    const folder = bench.dataFolder();
    const path = join(folder, "precious");
    mkdirSync(join(folder, "data"));
    writeFileSync(path, "data");
    const server = bench.launch({ DATA_DIR: join(folder, "data"), LOG_FORMAT: "json", SOCKET: path, ENGINES: "1" });
    expect(await server.ended).toBe(78);
    expect(linesOf(server.errors)).toEqual([
      expect.objectContaining({ level: "fatal", component: "server", msg: expect.stringMatching(/^SOCKET: /) }),
    ]);
  });
});

describe("a long start", () => {
  it("says how far it is, until it is over", async () => {
    const said: string[] = [];
    let nowMs = 0;
    const end = followStart(
      {
        log: (level, msg, fields) => said.push(`${level} ${msg} ${fields?.seconds}`),
        monotonicMs: () => (nowMs += 500),
        progress: () => (said.length < 2 ? "1 of 2 engines" : null),
      },
      1,
    );
    await expect.poll(() => said.length).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(said).toEqual(["info still starting: 1 of 2 engines 0.5", "info still starting: 1 of 2 engines 1"]);
    expect(end()).toBe(1.5);
  });
});
