/** The contract of src/adapters/http/http-server.ts, continued: streams, listening and draining, held against both adapters. */
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { createHttpServer } from "../../src/adapters/http/http-engine.ts";
import type { HttpExchange, HttpStream } from "../../src/adapters/http/http-server.ts";
import { ENGINES, echoHead, MIB, request, sha256, stillServes, TEXT } from "../support/http-exchanges.ts";
import { deferred, HttpTestBench } from "../support/http-test-server.ts";

const bench = new HttpTestBench();
afterEach(() => bench.close());

describe.each(ENGINES)("HTTP over $kind", ({ kind, skipped }) => {
  const test = it.skipIf(skipped);

  describe("streams", () => {
    test("chunks arrive as they are written, with the head before the first", async () => {
      const opened = deferred<HttpStream>();
      await bench.serve(kind, (exchange) => {
        const stream = exchange.openStream(200, [["Content-Type", "text/event-stream"]]);
        if (stream !== undefined) opened.resolve(stream);
      });
      const client = await bench.connect();
      await client.send(request("GET", "/events"));
      const stream = await opened.promise;
      expect(stream.write(Buffer.from(": hello\n\n"))).toBe(true);
      expect((await client.responseHead()).headers.get("content-type")).toBe("text/event-stream");
      expect((await client.chunk()).toString()).toBe(": hello\n\n");
      stream.write(Buffer.from("data: 1\n\n"));
      expect((await client.chunk()).toString()).toBe("data: 1\n\n");
      stream.end();
      expect((await client.chunk()).length).toBe(0);
      expect(stream.write(Buffer.from("after the end"))).toBe(false);
    });

    test("a reader that does not read makes write false, and gets all of it when it reads", async () => {
      const total = 24 * MIB;
      const piece = randomBytes(64 * 1024);
      const blocked = deferred<HttpStream>();
      let drains = 0;
      await bench.serve(kind, (exchange) => {
        const stream = exchange.openStream(200, []);
        if (stream === undefined) return;
        let written = 0;
        const fill = (): void => {
          while (written < total) {
            written += piece.length;
            if (!stream.write(piece)) return blocked.resolve(stream);
          }
          stream.end();
        };
        stream.onDrain(() => {
          drains++;
          fill();
        });
        fill();
      });
      const client = await bench.connect();
      client.socket.pause();
      await client.send(request("GET", "/"));
      const stream = await blocked.promise;
      expect(stream.bufferedBytes).toBeGreaterThan(0);
      expect(stream.bufferedBytes).toBeLessThan(1 * MIB);
      client.socket.resume();
      const { body } = await client.response();
      expect(body.length).toBe(total);
      expect(sha256(body)).toBe(sha256(Buffer.concat(Array.from({ length: total / piece.length }, () => piece))));
      expect(drains).toBeGreaterThan(0);
    });

    test("what was queued arrives although nothing more is written, and end waits for it", async () => {
      const opened = deferred<HttpStream>();
      await bench.serve(kind, (exchange) => {
        const stream = exchange.openStream(200, []);
        if (stream !== undefined) opened.resolve(stream);
      });
      const client = await bench.connect();
      client.socket.pause();
      await client.send(request("GET", "/"));
      const stream = await opened.promise;
      const body = randomBytes(12 * MIB);
      const drained = deferred();
      stream.onDrain(() => drained.resolve());
      expect(stream.write(body)).toBe(false);
      client.socket.resume();
      await client.responseHead();
      const parts: Buffer[] = [];
      for (let length = 0; length < body.length; ) {
        const part = await client.chunk();
        parts.push(part);
        length += part.length;
      }
      expect(sha256(Buffer.concat(parts))).toBe(sha256(body));
      await drained.promise;
      expect(stream.bufferedBytes).toBe(0);
      client.socket.pause();
      expect(stream.write(body)).toBe(false);
      stream.end();
      client.socket.resume();
      let length = 0;
      for (let part = await client.chunk(); part.length > 0; part = await client.chunk()) length += part.length;
      expect(length).toBe(body.length);
    });

    test("a reader that leaves is told by onClose once, and later writes are ignored", async () => {
      const opened = deferred<HttpStream>();
      const closed = deferred();
      let closes = 0;
      await bench.serve(kind, (exchange) => {
        const stream = exchange.openStream(200, []);
        if (stream === undefined) return;
        stream.onClose(() => {
          closes++;
          closed.resolve();
        });
        opened.resolve(stream);
      });
      const client = await bench.connect();
      await client.send(request("GET", "/"));
      const stream = await opened.promise;
      stream.write(Buffer.from("x"));
      await client.responseHead();
      client.reset();
      await closed.promise;
      expect(stream.write(Buffer.from("y"))).toBe(false);
      stream.end();
      expect(closes).toBe(1);
    });

    test("a handler that throws after it opened a stream cuts it off", async () => {
      await bench.serve(kind, (exchange) => {
        exchange.openStream(200, [])?.write(Buffer.from("x"));
        throw new Error("in the middle");
      });
      const client = await bench.connect();
      await client.send(request("GET", "/"));
      await client.closed;
      expect(bench.faults).toHaveLength(1);
    });

    test("HEAD of a stream has no body", async () => {
      await bench.serve(kind, (exchange) => {
        const stream = exchange.openStream(200, TEXT);
        stream?.write(Buffer.from("unseen"));
        stream?.end();
      });
      const client = await bench.connect();
      for (let i = 0; i < 2; i++) {
        await client.send(request("HEAD", "/"));
        expect((await client.response({ head: true })).headers.get("content-type")).toBe("text/plain");
      }
    });
  });

  describe("listening and draining", () => {
    test("a taken port is an error that names it", async () => {
      await bench.serve(kind, echoHead);
      for (const other of ["node", kind] as const) {
        const second = createHttpServer(other, bench.options(), echoHead, () => {});
        await expect(second.listen("127.0.0.1", bench.port)).rejects.toThrow(new RegExp(`127\\.0\\.0\\.1:${bench.port}.*EADDRINUSE`));
        await second.drain(0);
      }
    });

    test("draining answers what is in flight, closes it behind the answer, refuses new connections and resolves", async () => {
      const arrived = deferred<HttpExchange>();
      const server = await bench.serve(kind, (exchange) => {
        if (exchange.request.path === "/still") exchange.respond(200, [], "");
        else arrived.resolve(exchange);
      });
      const idle = await bench.connect();
      await stillServes(idle);
      const silent = await bench.connect();
      const busy = await bench.connect();
      await busy.send(request("GET", "/busy"));
      const exchange = await arrived.promise;
      const drained = server.drain(60_000);
      await expect(bench.connect()).rejects.toThrow("ECONNREFUSED");
      exchange.respond(200, TEXT, "the last word");
      const response = await busy.response();
      expect(response.body.toString()).toBe("the last word");
      expect(response.headers.get("connection")).toBe("close");
      await Promise.all([drained, busy.closed, idle.closed, silent.closed]);
      expect(server.openConnections).toBe(0);
    });

    test("draining waits for a large answer to a slow reader", async () => {
      const body = randomBytes(12 * MIB);
      const answered = deferred();
      const server = await bench.serve(kind, (exchange) => {
        exchange.respond(200, [], body);
        answered.resolve();
      });
      const client = await bench.connect();
      client.socket.pause();
      await client.send(request("GET", "/"));
      await answered.promise;
      const drained = server.drain(60_000);
      client.socket.resume();
      expect(sha256((await client.response()).body)).toBe(sha256(body));
      await drained;
    });

    test("draining cuts off after its time limit what does not end", async () => {
      const aborted = deferred();
      const arrived = deferred();
      const server = await bench.serve(kind, (exchange) => {
        exchange.onAbort(() => aborted.resolve());
        arrived.resolve();
      });
      const client = await bench.connect();
      await client.send(request("GET", "/"));
      await arrived.promise;
      await Promise.all([server.drain(20), server.drain(60_000)]);
      expect(server.openConnections).toBe(0);
      await Promise.all([aborted.promise, client.closed]);
    });

    test("draining an idle server resolves at once, also when it never listened", async () => {
      const server = await bench.serve(kind, echoHead);
      await server.drain(60_000);
      await createHttpServer(kind, bench.options(), echoHead, () => {}).drain(60_000);
    });
  });
});
