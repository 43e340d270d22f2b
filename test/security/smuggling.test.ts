// Bytes behind a request whose framing is at fault, on each HTTP port of the whole server and over both engines: the request is refused once, its connection is closed and nothing
// behind it is served. Where the framing is only unusual nothing of a body is taken for a request.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/alertmanager-peer.ts";
import { ENGINES } from "../support/http-exchanges.ts";
import { RawHttpClient } from "../support/http-raw-client.ts";
import { ServerBench } from "../support/server-process.ts";

const NONE = "0\r\n\r\n";
/** Headers of a request, and what comes behind its head before the bytes that nobody may serve. */
const FAULTY: Readonly<Record<string, readonly [headers: string, body?: string]>> = {
  "an encoding that is none": ["Transfer-Encoding: xchunked", NONE],
  "chunked, then identity": ["Transfer-Encoding: chunked, identity", NONE],
  "identity, then chunked": ["Transfer-Encoding: identity, chunked", NONE],
  "chunked twice": ["Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", NONE],
  "two lengths": ["Content-Length: 0\r\nContent-Length: 60"],
  "two lengths in a line": ["Content-Length: 0, 0"],
  "a length, then chunked": ["Content-Length: 6\r\nTransfer-Encoding: chunked", NONE],
  "chunked, then a length": ["Transfer-Encoding: chunked\r\nContent-Length: 6", NONE],
  "a blank before the colon": ["Transfer-Encoding : chunked", NONE],
  "a NUL behind the encoding": ["Transfer-Encoding: chunked\0", NONE],
  "a vertical tab before the encoding": ["Transfer-Encoding: \u000bchunked", NONE],
  "an encoding in quotes": ['Transfer-Encoding: "chunked"', NONE],
  "a folded line": ["X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 0"],
  "an encoding on a folded line": ["Transfer-Encoding:\r\n chunked", NONE],
  "a carriage return alone": ["X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 0"],
  "length -0": ["Content-Length: -0"],
  "length +0": ["Content-Length: +0"],
  "length 0x0": ["Content-Length: 0x0"],
  "length 0 0": ["Content-Length: 0 0"],
  "length 1e1": ["Content-Length: 1e1"],
  "no length": ["Content-Length:"],
  "length 2^64": ["Content-Length: 18446744073709551616"],
  "chunk 0x0": ["Transfer-Encoding: chunked", "0x0\r\n\r\n"],
  "chunk -1": ["Transfer-Encoding: chunked", "-1\r\n\r\n"],
  "chunk 2^64": ["Transfer-Encoding: chunked", "10000000000000000\r\n\r\n"],
};
const SMUGGLED = "GET /SMUGGLED HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: x\r\n\r\n";

const PORTS: ReadonlyArray<readonly [setting: "PORT" | "OTLP_PORT" | "ALERTS_PORT", path: string]> = [
  ["PORT", "/api/v1/telemetry"],
  ["OTLP_PORT", "/v1/metrics"],
  ["ALERTS_PORT", "/api/v1/alerts/webhook"],
];

describe.each(ENGINES)("framing over $kind", ({ kind, skipped }) => {
  const bench = new ServerBench();
  const test = it.skipIf(skipped);
  const ports: Record<string, number> = {};
  /** Answers to the faulty requests, by setting and name. All are sent at once: some are heard out for as long as a head may take. */
  const answers = new Map<string, Promise<string>>();
  beforeAll(async () => {
    if (skipped) return;
    for (const [setting] of PORTS) ports[setting] = await freePort();
    await bench.start({
      HTTP_ENGINE: kind,
      ENGINES: "1",
      ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
    });
    for (const [setting, path] of PORTS)
      for (const [name, [headers, body = ""]] of Object.entries(FAULTY)) {
        const port = ports[setting] as number;
        answers.set(`${setting} ${name}`, talk(port, head(port, path, headers) + body + SMUGGLED));
      }
  });
  afterAll(() => bench.close());

  const head = (port: number, path: string, headers: string) =>
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: x\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;
  /** All that comes until the server closes the connection. */
  const talk = async (port: number, bytes: string): Promise<string> => {
    const client = await RawHttpClient.open(port);
    const rest = client.rest();
    await client.send(bytes).catch(() => {});
    await client.closed;
    return (await rest).toString("latin1");
  };

  describe.each(PORTS)("on %s", (setting, path) => {
    test.each(Object.keys(FAULTY))("%s: nothing behind it is served", async (name) => {
      const answer = (await answers.get(`${setting} ${name}`)) as string;
      const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
      expect(statuses.length, answer).toBeLessThanOrEqual(1);
      for (const status of statuses) expect(status, answer).toBeGreaterThanOrEqual(400);
      expect(answer).not.toContain("SMUGGLED");
    });

    test("a request in the trailers of a chunked body is no request", async () => {
      const port = ports[setting] as number;
      const trailers = "0\r\nX:GET /SMUGGLED HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
      const answer = await talk(port, head(port, path, "Connection: close\r\nTransfer-Encoding: chunked") + trailers);
      expect(answer).not.toContain("SMUGGLED");
      expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].length, answer).toBeLessThanOrEqual(1);
    });

    test("a request in the body of a GET is no request", async () => {
      const port = ports[setting] as number;
      const outer = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: x\r\nConnection: close\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n`;
      expect(await talk(port, outer + SMUGGLED)).not.toContain("SMUGGLED");
    });
  });
});
