/**
 * Requests whose framing is at fault, with another request behind them (request smuggling): both adapters refuse the first and serve nothing more of the
 * connection, whether the bytes behind come in the same packet, in a later one, or behind answers that the client has not read.
 */
import { afterEach, describe, expect, it } from "vitest";
import { ENGINES, limitByPath, request, TEXT } from "../support/http-exchanges.ts";
import { RawHttpClient } from "../support/http-raw-client.ts";
import { HttpTestBench } from "../support/http-test-server.ts";

const FAULTS: ReadonlyArray<readonly [name: string, headers: readonly string[], body: string]> = [
  ["Transfer-Encoding: xchunked", ["Transfer-Encoding: xchunked"], "0\r\n\r\n"],
  ["Transfer-Encoding: chunked, identity", ["Transfer-Encoding: chunked, identity"], "0\r\n\r\n"],
  ["Transfer-Encoding: gzip, chunked", ["Transfer-Encoding: gzip, chunked"], "0\r\n\r\n"],
  ["two Transfer-Encodings", ["Transfer-Encoding: identity", "Transfer-Encoding: chunked"], "0\r\n\r\n"],
  ["two lengths, none first", ["Content-Length: 0", "Content-Length: 44"], ""],
  ["two lengths, none last", ["Content-Length: 3", "Content-Length: 0"], "abc"],
  ["two lengths in one line", ["Content-Length: 0, 44"], ""],
  ["a length and an encoding", ["Content-Length: 5", "Transfer-Encoding: chunked"], "0\r\n\r\n"],
  ["a length in hex", ["Content-Length: 0x0"], ""],
  ["a length with a sign", ["Content-Length: +0"], ""],
];
const SMUGGLED = request("POST", "/smuggled", [], "x");
/** Until a packet of its own has been read: the server is in this process. */
const turns = () => new Promise((resolve) => setTimeout(resolve, 20));

const bench = new HttpTestBench();
afterEach(() => bench.close());

describe.each(ENGINES)("framing over $kind", ({ kind, skipped }) => {
  const test = it.skipIf(skipped);
  /** Serves big answers, and notes what it was asked. */
  const serve = async (): Promise<string[]> => {
    const served: string[] = [];
    await bench.serve(kind, (exchange) => {
      served.push(exchange.request.path);
      exchange.respond(200, TEXT, "a".repeat(60_000));
    });
    return served;
  };

  test.each(FAULTS)("%s: what follows in the same packet is not served", async (_name, headers, body) => {
    const served = await serve();
    const client = await bench.connect();
    const rest = client.rest();
    await client.send(request("POST", "/first", headers) + body + SMUGGLED + request("GET", "/third"));
    expect((await rest).toString().match(/HTTP\/1\.1 \d+/g) ?? []).toEqual(expect.not.arrayContaining(["HTTP/1.1 200"]));
    await client.closed;
    expect(served).toEqual([]);
  });

  test.each(FAULTS)("%s: what follows in a later packet is not served; the refusal is one, and says why", async (_name, headers, body) => {
    const served = await serve();
    const client = await bench.connect();
    const rest = client.rest();
    await client.send(request("POST", "/first", headers) + body);
    await turns();
    await client.send(SMUGGLED).catch(() => {});
    const answer = (await rest).toString();
    expect(answer.match(/HTTP\/1\.1 (?:400|501) /g)).toHaveLength(1);
    expect(answer.toLowerCase()).toContain("connection: close");
    await client.closed;
    expect(served).toEqual([]);
  });

  test.each(FAULTS)("%s: nothing is served behind answers that wait for a slow reader", async (_name, headers, body) => {
    const served = await serve();
    const client = await bench.connect();
    client.socket.pause();
    const before = 200; // 12 MB of answers, more than the kernel holds
    // One packet a request: node:http serves at most 64 that wait.
    for (let n = 0; n < before; n += 20) {
      await client.send(request("GET", "/before").repeat(20));
      await turns();
    }
    const wellFormed = served.length;
    await client.send(request("POST", "/first", headers) + body);
    await turns();
    await client.send(SMUGGLED).catch(() => {});
    await turns();
    client.socket.resume();
    await client.closed;
    expect(wellFormed).toBeGreaterThan(0);
    expect(served.every((path) => path === "/before")).toBe(true);
  });

  test("a request behind one that was refused because of its length is not served either", async () => {
    const served: string[] = [];
    await bench.serve(kind, (exchange) => {
      served.push(exchange.request.path);
      limitByPath(exchange);
    });
    const client = await bench.connect();
    const rest = client.rest();
    await client.send(request("POST", "/3", [], "four") + request("POST", "/10", [], "behind"));
    const answer = (await rest).toString();
    expect(answer).not.toContain("200 OK");
    expect(served).toEqual(["/3"]);
  });

  test("other connections go on", async () => {
    const served = await serve();
    const other = await RawHttpClient.open(bench.port);
    const client = await bench.connect();
    await client.send(request("POST", "/first", ["Content-Length: 0", "Content-Length: 44"]) + SMUGGLED);
    await client.closed;
    await other.send(request("GET", "/other"));
    expect((await other.response()).status).toBe(200);
    other.socket.destroy();
    expect(served).toEqual(["/other"]);
  });
});
