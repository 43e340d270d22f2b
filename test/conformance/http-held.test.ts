/** Held exchanges, part of the contract of src/adapters/http/http-server.ts: a handler that must wait before it knows what to do with the body. */
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import type { HttpExchange, HttpHandler } from "../../src/adapters/http/http-server.ts";
import { ENGINES, expectRefusal, hashBody, MIB, request, sha256, stillServes, TEXT } from "../support/http-exchanges.ts";
import { deferred, HttpTestBench } from "../support/http-test-server.ts";

const bench = new HttpTestBench();
afterEach(() => bench.close());

/** Goes on with `next` when `until` resolves; requests to /still are answered at once. */
function heldUntil(until: Promise<void>, next: HttpHandler, onHeld: (exchange: HttpExchange) => void = () => {}): HttpHandler {
  return (exchange) => {
    if (exchange.request.path === "/still") return void exchange.respond(200, TEXT, "");
    const goOn = exchange.hold();
    onHeld(exchange);
    void until.then(() => goOn(() => next(exchange)));
  };
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe.each(ENGINES)("held exchanges over $kind", ({ kind, skipped }) => {
  const test = it.skipIf(skipped);

  test.each([0, 1, 16_384, 100_003, 4 * MIB])(
    "a body of %i bytes that came while the exchange was held arrives exactly",
    async (length) => {
      const decided = deferred();
      const held = deferred<HttpExchange>();
      await bench.serve(kind, heldUntil(decided.promise, hashBody(16 * MIB), held.resolve));
      const client = await bench.connect();
      const body = randomBytes(length);
      await client.send(request("POST", "/", [`Content-Length: ${length}`]));
      const sent = client.send(body);
      await held.promise;
      await turns(20);
      decided.resolve();
      await sent;
      expect((await client.response()).body.toString()).toBe(`${length} ${sha256(body)}`);
      await stillServes(client);
      expect(bench.faults).toEqual([]);
    },
  );

  test("a body that comes in parts, before and after the decision, is put together in order", async () => {
    const decided = deferred();
    const collecting = deferred();
    const collect: HttpHandler = (exchange) => {
      hashBody(1000)(exchange);
      collecting.resolve();
    };
    await bench.serve(kind, heldUntil(decided.promise, collect));
    const client = await bench.connect();
    await client.send(request("POST", "/", ["Transfer-Encoding: chunked"]));
    await client.sendApart(["5\r\nhello\r\n", "1\r\n,\r\n"]);
    decided.resolve();
    await client.send("4\r\n big\r\n");
    await collecting.promise;
    await client.sendApart(["6\r\n world\r\n", "0\r\n\r\n"]);
    expect((await client.response()).body.toString()).toBe(`16 ${sha256(Buffer.from("hello, big world"))}`);
    await stillServes(client);
  });

  test("a client that sends on without end is made to wait", async () => {
    const decided = deferred();
    const held = deferred<HttpExchange>();
    await bench.serve(kind, heldUntil(decided.promise, hashBody(64 * MIB), held.resolve));
    const client = await bench.connect();
    const body = Buffer.alloc(64 * MIB);
    await client.send(request("POST", "/", [`Content-Length: ${body.length}`]));
    await held.promise;
    client.socket.write(body);
    await turns(2_000);
    const waiting = client.socket.writableLength;
    decided.resolve();
    expect((await client.response()).body.toString()).toBe(`${body.length} ${sha256(body)}`);
    expect(waiting).toBeGreaterThan(32 * MIB);
  });

  test("a refusal while the body is still coming reaches the client", async () => {
    const decided = deferred();
    await bench.serve(
      kind,
      heldUntil(decided.promise, (exchange) => exchange.respond(401, TEXT, "no")),
    );
    const client = await bench.connect();
    await client.send(request("POST", "/", [`Content-Length: ${MIB}`]));
    await client.send(Buffer.alloc(200_000));
    decided.resolve();
    await client.send(Buffer.alloc(MIB - 200_000));
    expect((await client.response()).status).toBe(401);
    await stillServes(client);
  });

  test("the body limit holds for what came while the exchange was held", async () => {
    const decided = deferred();
    await bench.serve(kind, heldUntil(decided.promise, hashBody(15)));
    const client = await bench.connect();
    await client.send(request("POST", "/", ["Transfer-Encoding: chunked"]) + "8\r\n01234567\r\n8\r\n89abcdef\r\n");
    await turns(5);
    decided.resolve();
    expectRefusal(await client.response(), 413, "body_too_large");
    await client.closed;
  });

  test("a long body that grows beyond its limit behind the decision is refused, and the client hears of it", async () => {
    const decided = deferred();
    const held = deferred<HttpExchange>();
    await bench.serve(kind, heldUntil(decided.promise, hashBody(MIB), held.resolve));
    const client = await bench.connect();
    await client.send(request("POST", "/", ["Transfer-Encoding: chunked"]));
    await held.promise;
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    client.socket.write(chunk.repeat(20));
    await turns(50);
    decided.resolve();
    expectRefusal(await client.response(), 413, "body_too_large");
    expect(bench.faults).toEqual([]);
  });

  test("a client that waits for 100 Continue is told to go on once the exchange does", async () => {
    const decided = deferred();
    await bench.serve(kind, heldUntil(decided.promise, hashBody(100)));
    const client = await bench.connect();
    await client.send(request("POST", "/", ["Content-Length: 4", "Expect: 100-continue"]));
    await turns(5);
    decided.resolve();
    expect((await client.response()).status).toBe(100);
    await client.send("body");
    expect((await client.response()).body.toString()).toBe(`4 ${sha256(Buffer.from("body"))}`);
    await stillServes(client);
  });

  test("a request without a body is answered after the wait, with the one behind it after it", async () => {
    const decided = deferred();
    await bench.serve(
      kind,
      heldUntil(decided.promise, (exchange) => exchange.respond(200, TEXT, exchange.request.path)),
    );
    const client = await bench.connect();
    await client.send(request("GET", "/1"));
    await turns(5);
    decided.resolve();
    expect((await client.response()).body.toString()).toBe("/1");
    await stillServes(client);
  });

  test("what the rest of the handler throws becomes a 500", async () => {
    const decided = deferred();
    await bench.serve(
      kind,
      heldUntil(decided.promise, () => {
        throw new Error("late");
      }),
    );
    const client = await bench.connect();
    await client.send(request("POST", "/", [], "body"));
    decided.resolve();
    expectRefusal(await client.response(), 500, "internal_error");
    await stillServes(client);
    expect(bench.faults.map(String)).toEqual(["Error: late"]);
  });

  test("a client that leaves while its exchange is held aborts it, and nothing is collected", async () => {
    const decided = deferred();
    const held = deferred<HttpExchange>();
    const aborted = deferred();
    let bodies = 0;
    const collect: HttpHandler = (exchange) => exchange.collectBody(100, () => void bodies++);
    await bench.serve(
      kind,
      heldUntil(decided.promise, collect, (exchange) => {
        exchange.onAbort(() => aborted.resolve());
        held.resolve(exchange);
      }),
    );
    const client = await bench.connect();
    await client.send(request("POST", "/", ["Content-Length: 10"]));
    const exchange = await held.promise;
    client.reset();
    await aborted.promise;
    decided.resolve();
    await turns(5);
    expect(exchange.aborted).toBe(true);
    expect(bodies).toBe(0);
    expect(bench.faults).toEqual([]);
  });
});
