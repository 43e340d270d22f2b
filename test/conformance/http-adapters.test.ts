/**
 * The contract of src/adapters/http/http-server.ts, held against both adapters: requests, answers, bodies, refusals. Streams and the life of
 * the server are in http-lifecycle.test.ts, what only one adapter does in http-differences.test.ts.
 */
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { BodyShares } from "../../src/adapters/http/body-shares.ts";
import { createHttpServer } from "../../src/adapters/http/http-engine.ts";
import type { HttpExchange, HttpHandler } from "../../src/adapters/http/http-server.ts";
import { ShareLedger } from "../../src/core/fairness/share-ledger.ts";
import {
  ENGINES,
  echoHead,
  expectRefusal,
  hashBody,
  limitByPath,
  MIB,
  request,
  sha256,
  stillServes,
  TEXT,
} from "../support/http-exchanges.ts";
import { RawHttpClient } from "../support/http-raw-client.ts";
import { deferred, HttpTestBench } from "../support/http-test-server.ts";

const bench = new HttpTestBench();
afterEach(() => bench.close());

describe.each(ENGINES)("HTTP over $kind", ({ kind, skipped }) => {
  const test = it.skipIf(skipped);

  describe("requests", () => {
    test("the head arrives as it was sent, neither decoded nor cut", async () => {
      const server = await bench.serve(kind, echoHead);
      expect(server.engineName).toBe(kind);
      const client = await bench.connect();
      await client.send(request("GET", "/a%20b//c?x=%31&y=?", ["ACCEPT: a", "Accept: b"]));
      const response = await client.response();
      expect(JSON.parse(response.body.toString())).toEqual({
        method: "GET",
        path: "/a%20b//c",
        query: "x=%31&y=?",
        remoteAddress: "127.0.0.1",
        accept: "a, b",
      });
      expect(response.headers.get("content-type")).toBe("application/json");
    });

    test("the head stays readable after the handler has returned", async () => {
      await bench.serve(kind, (exchange) => setImmediate(() => echoHead(exchange)));
      const client = await bench.connect();
      await client.send(request("DELETE", "/later?q", ["Accept: text/html"]));
      expect(JSON.parse((await client.response()).body.toString())).toMatchObject({
        method: "DELETE",
        path: "/later",
        query: "q",
        accept: "text/html",
      });
    });

    test("the remote address can be read when the exchange is over", async () => {
      const over = deferred<HttpExchange>();
      await bench.serve(kind, (exchange) => {
        exchange.respond(200, TEXT, "");
        over.resolve(exchange);
      });
      const client = await bench.connect();
      await client.send(request("GET", "/"));
      expect(["127.0.0.1", ""]).toContain((await over.promise).request.remoteAddress);
    });

    test("addresses of IPv6 have their short form, those of IPv4 on a dual-stack socket their dotted one", async () => {
      const server = createHttpServer(kind, bench.options(), echoHead, () => {});
      const { port } = await server.listen("::", 0);
      for (const host of ["::1", "127.0.0.1"]) {
        const client = await RawHttpClient.open(port, { host });
        await client.send(request("GET", "/"));
        expect(JSON.parse((await client.response()).body.toString())).toMatchObject({ remoteAddress: host });
        client.socket.destroy();
      }
      await server.drain(1000);
    });

    test("a head whose header lines come in several packets is put together", async () => {
      await bench.serve(kind, echoHead);
      const client = await bench.connect();
      await client.sendApart(["GET /split HTTP/1.1\r\nHo", "st: vedette\r", "\nAcc", "ept: x\r\n", "\r\n"]);
      expect(JSON.parse((await client.response()).body.toString())).toMatchObject({ path: "/split", accept: "x" });
    });

    test("a connection is used again, also after an answer that came later", async () => {
      const server = await bench.serve(kind, hashBody(100));
      const client = await bench.connect();
      for (let i = 1; i <= 20; i++) {
        await client.send(request("POST", "/", [], "x".repeat(i)));
        expect((await client.response()).body.toString()).toBe(`${i} ${sha256(Buffer.from("x".repeat(i)))}`);
      }
      expect(server.openConnections).toBe(1);
    });

    test("pipelined requests that are answered at once are answered in order", async () => {
      await bench.serve(kind, echoHead);
      const client = await bench.connect();
      await client.send(request("GET", "/1") + request("GET", "/2") + request("GET", "/3"));
      for (const path of ["/1", "/2", "/3"]) expect(JSON.parse((await client.response()).body.toString())).toMatchObject({ path });
    });

    test("404 and 405 made by the handler pass through with their headers, and the connection lives on", async () => {
      await bench.serve(kind, (exchange) => {
        if (exchange.request.method === "GET") exchange.respond(exchange.request.path === "/still" ? 200 : 404, TEXT, "no such page");
        else exchange.respond(405, [["Allow", "GET"]], "");
      });
      const client = await bench.connect();
      await client.send(request("GET", "/nowhere"));
      expect(await client.response()).toMatchObject({ status: 404, body: Buffer.from("no such page") });
      await client.send(request("PURGE", "/"));
      const refused = await client.response();
      expect(refused.status).toBe(405);
      expect(refused.headers.get("allow")).toBe("GET");
      expect(refused.headers.get("content-length")).toBe("0");
      await stillServes(client);
    });

    test("300 connections at once get each its own answer", async () => {
      const server = await bench.serve(kind, hashBody(1000));
      const clients = await Promise.all(Array.from({ length: 300 }, () => bench.connect()));
      const answers = await Promise.all(
        clients.map(async (client, i) => {
          await client.send(request("POST", "/", [], "y".repeat(i + 1)));
          return (await client.response()).body.toString();
        }),
      );
      expect(answers).toEqual(clients.map((_, i) => `${i + 1} ${sha256(Buffer.from("y".repeat(i + 1)))}`));
      expect(server.openConnections).toBe(300);
    });

    test("a connection above the maximum is closed, those below are served", async () => {
      await bench.serve(kind, echoHead, { connectionsMax: 2 });
      const kept = [await bench.connect(), await bench.connect()];
      for (const client of kept) await stillServes(client);
      const surplus = await bench.connect();
      await surplus.closed;
      for (const client of kept) await stillServes(client);
    });
  });

  describe("answers", () => {
    test("HEAD gives the headers of GET and no body, and the connection lives on", async () => {
      await bench.serve(kind, (exchange) => exchange.respond(200, TEXT, "hällo"));
      const client = await bench.connect();
      await client.send(request("HEAD", "/"));
      const response = await client.response({ head: true });
      expect(response.headers.get("content-length")).toBe("6");
      expect(response.headers.get("content-type")).toBe("text/plain");
      await client.send(request("GET", "/"));
      expect((await client.response()).body.toString()).toBe("hällo");
    });

    test("204 has neither body nor length", async () => {
      await bench.serve(kind, (exchange) => exchange.respond(exchange.request.path === "/still" ? 200 : 204, [], ""));
      const client = await bench.connect();
      await client.send(request("GET", "/"));
      const response = await client.response();
      expect(response.status).toBe(204);
      expect(response.headers.has("content-length")).toBe(false);
      await stillServes(client);
    });

    test("the second answer is ignored", async () => {
      const results: unknown[] = [];
      await bench.serve(kind, (exchange) => {
        results.push(exchange.respond(200, TEXT, "first"), exchange.respond(500, TEXT, "second"), exchange.openStream(200, TEXT));
      });
      const client = await bench.connect();
      await client.send(request("GET", "/"));
      expect((await client.response()).body.toString()).toBe("first");
      await stillServes(client);
      expect(results.slice(0, 3)).toEqual([true, false, undefined]);
    });

    test("a client that leaves before its answer makes the exchange aborted, and the answer is ignored", async () => {
      const arrived = deferred<HttpExchange>();
      const aborted = deferred();
      await bench.serve(kind, (exchange) => {
        exchange.onAbort(() => aborted.resolve());
        arrived.resolve(exchange);
      });
      const client = await bench.connect();
      await client.send(request("GET", "/"));
      const exchange = await arrived.promise;
      expect(exchange.aborted).toBe(false);
      client.reset();
      await aborted.promise;
      expect(exchange.aborted).toBe(true);
      expect(exchange.respond(200, TEXT, "too late")).toBe(false);
      expect(exchange.openStream(200, TEXT)).toBeUndefined();
    });

    test("an answer of 16 MiB arrives byte for byte", async () => {
      const body = randomBytes(16 * MIB);
      await bench.serve(kind, (exchange) => setImmediate(() => exchange.respond(200, [], exchange.request.path === "/still" ? "" : body)));
      const client = await bench.connect();
      await client.send(request("GET", "/"));
      client.socket.pause();
      setImmediate(() => client.socket.resume());
      expect(sha256((await client.response()).body)).toBe(sha256(body));
      await stillServes(client);
    });

    test("an answer above the maximum, or with a header that would break the framing, is a fault of the handler", async () => {
      const attempts: HttpHandler[] = [
        (exchange) => exchange.respond(200, [], Buffer.alloc(101)),
        (exchange) => exchange.respond(200, [["X-Evil", "a\r\nSet-Cookie: b"]], ""),
        (exchange) => exchange.respond(200, [["content-length", "3"]], "abc"),
        (exchange) => exchange.respond(99, [], ""),
      ];
      await bench.serve(kind, (exchange) => attempts[Number(exchange.request.path.slice(1))]?.(exchange), {
        answerBytesMax: 100,
      });
      const client = await bench.connect();
      for (let i = 0; i < attempts.length; i++) {
        await client.send(request("GET", `/${i}`));
        expectRefusal(await client.response(), 500, "internal_error");
      }
      expect(bench.faults).toHaveLength(attempts.length);
    });

    test("a handler that throws gives 500, before and after the body", async () => {
      await bench.serve(kind, (exchange) => {
        if (exchange.request.path === "/still") return void exchange.respond(200, [], "");
        if (exchange.request.path === "/early") throw new Error("early");
        exchange.collectBody(100, () => {
          throw new Error("late");
        });
      });
      const client = await bench.connect();
      for (const path of ["/early", "/late"]) {
        await client.send(request("POST", path, [], "body"));
        expectRefusal(await client.response(), 500, "internal_error");
        await stillServes(client);
      }
      expect(bench.faults.map(String)).toEqual(["Error: early", "Error: late"]);
    });
  });

  describe("bodies", () => {
    test("binary bodies of many lengths arrive exactly, aligned to 8 bytes", async () => {
      const offsets = new Set<number>();
      await bench.serve(kind, (exchange) => {
        exchange.collectBody(MIB, (body) => {
          offsets.add(body.byteOffset % 8);
          exchange.respond(200, TEXT, `${body.length} ${sha256(body)}`);
        });
      });
      const client = await bench.connect();
      for (const length of [0, 1, 7, 16_383, 16_384, 16_385, 100_003, MIB]) {
        const body = randomBytes(length);
        await client.send(request("POST", "/", [`Content-Length: ${length}`]));
        await client.send(body);
        expect((await client.response()).body.toString()).toBe(`${length} ${sha256(body)}`);
      }
      expect([...offsets]).toEqual([0]);
    });

    test("a body of 16 MiB arrives exactly", async () => {
      await bench.serve(kind, hashBody(16 * MIB));
      const body = randomBytes(16 * MIB);
      const client = await bench.connect();
      await client.send(request("POST", "/", [`Content-Length: ${body.length}`]));
      await client.send(body);
      expect((await client.response()).body.toString()).toBe(`${body.length} ${sha256(body)}`);
    });

    test("a chunked body without Content-Length arrives exactly, however it is cut", async () => {
      await bench.serve(kind, hashBody(100));
      const client = await bench.connect();
      const body = "5\r\nhello\r\n1\r\n,\r\n00A\r\n big world\r\n0\r\n\r\n";
      for (const parts of [[body], [body.slice(0, 6), body.slice(6, 20), body.slice(20)], [...body]]) {
        await client.send(request("POST", "/", ["Transfer-Encoding: chunked"]));
        await client.sendApart(parts);
        expect((await client.response()).body.toString()).toBe(`16 ${sha256(Buffer.from("hello, big world"))}`);
      }
      await stillServes(client);
    });

    test("a request without a body gives an empty one", async () => {
      await bench.serve(kind, hashBody(100));
      const client = await bench.connect();
      await client.send(request("GET", "/"));
      expect((await client.response()).body.toString()).toBe(`0 ${sha256(Buffer.alloc(0))}`);
    });

    test("Expect: 100-continue is told to continue", async () => {
      await bench.serve(kind, hashBody(100));
      const client = await bench.connect();
      await client.send(request("POST", "/", ["Content-Length: 4", "Expect: 100-continue"]));
      expect((await client.response()).status).toBe(100);
      await client.send("body");
      expect((await client.response()).body.toString()).toBe(`4 ${sha256(Buffer.from("body"))}`);
      await stillServes(client);
    });

    test("a body declared too long is refused and the connection closed, also when the client sends on", async () => {
      await bench.serve(kind, limitByPath);
      const client = await bench.connect();
      await client.send(request("POST", "/1000", ["Content-Length: 1001"]));
      await client.send("x".repeat(1001));
      const response = await client.response();
      expectRefusal(response, 413, "body_too_large");
      expect(response.headers.get("connection")).toBe("close");
      await client.closed;
    });

    test("a body declared too long is refused though none of it is sent", async () => {
      await bench.serve(kind, limitByPath);
      const client = await bench.connect();
      await client.send(request("POST", "/1000", ["Content-Length: 999999999"]));
      expectRefusal(await client.response(), 413, "body_too_large");
      await client.closed;
    });

    test("a chunked body is refused when it grows too long, at the limit exactly", async () => {
      await bench.serve(kind, limitByPath);
      const fitting = await bench.connect();
      await fitting.send(request("POST", "/16", ["Transfer-Encoding: chunked"]) + "8\r\n01234567\r\n8\r\n89abcdef\r\n0\r\n\r\n");
      expect((await fitting.response()).status).toBe(200);
      const client = await bench.connect();
      await client.send(request("POST", "/15", ["Transfer-Encoding: chunked"]) + "8\r\n01234567\r\n8\r\n89abcdef\r\n");
      expectRefusal(await client.response(), 413, "body_too_large");
      await client.closed;
    });

    test("bodies beyond the memory for bodies get 503; one that comes whole needs none of it", async () => {
      bench.bodies = BodyShares.alone(64 * 1024);
      await bench.serve(kind, limitByPath, { bodyBytesRetainedMax: 0 });
      const client = await bench.connect();
      await client.send(request("POST", "/100000", ["Content-Length: 50000"]));
      await client.send(Buffer.alloc(49_000));
      expectRefusal(await client.response(), 503, "overloaded");
      await client.closed;
      const next = await bench.connect();
      await next.send(request("POST", "/100000", [], "z".repeat(16_000)));
      expect((await next.response()).status).toBe(200);
    });

    test("bodies of one tenant that never end leave others their share", async () => {
      const ledger = new ShareLedger({ most: 2 * MIB, share: MIB / 2, tenants: () => 2 });
      bench.bodies = new BodyShares(ledger);
      await bench.serve(kind, (exchange) => {
        exchange.tenant = exchange.request.path;
        exchange.collectBody(MIB, (body) => void exchange.respond(200, TEXT, String(body.length)));
      });
      const slow = await Promise.all(Array.from({ length: 20 }, () => bench.connect()));
      for (const client of slow) await client.send(request("POST", "/evil", ["Content-Length: 100000"]) + "x".repeat(70_000));
      await expect.poll(() => ledger.refused("/evil")).toBeGreaterThan(0);
      const other = await bench.connect();
      await other.send(request("POST", "/acme", ["Content-Length: 100000"]) + "x".repeat(70_000));
      await expect.poll(() => ledger.used("/acme")).toBeGreaterThan(0);
      await other.send("x".repeat(30_000));
      expect((await other.response()).body.toString()).toBe("100000");
      expect(ledger.refused("/acme")).toBe(0);
    });

    test("a client that vanishes within its body never reaches onBody, and gives its memory back", async () => {
      const seen: string[] = [];
      let aborted = deferred();
      let begun = deferred();
      bench.bodies = BodyShares.alone(64 * 1024);
      await bench.serve(
        kind,
        (exchange) => {
          exchange.onAbort(() => aborted.resolve());
          exchange.collectBody(100_000, () => exchange.respond(200, TEXT, String(seen.push("body"))));
          begun.resolve();
        },
        { bodyBytesRetainedMax: 0 },
      );
      for (let i = 0; i < 4; i++) {
        aborted = deferred();
        begun = deferred();
        const client = await bench.connect();
        await client.send(request("POST", "/", ["Content-Length: 20000"]) + "x".repeat(10_000));
        await begun.promise;
        client.reset();
        await aborted.promise;
      }
      expect(seen).toEqual([]);
      expect(bench.bodies.taken).toBe(0);
      const whole = await bench.connect();
      await whole.send(request("POST", "/", [], "x".repeat(16_000)));
      expect((await whole.response()).body.toString()).toBe("1");
    });

    test("a body that stalls gets 408 and the connection is closed", async () => {
      await bench.serve(kind, hashBody(100), { bodyTimeoutMs: 100 });
      const clients = [await bench.connect(), await bench.connect()];
      await clients[0]?.send(request("POST", "/", ["Content-Length: 10"]) + "12345");
      await clients[1]?.send(request("POST", "/", ["Transfer-Encoding: chunked"]) + "5\r\n12345\r\n");
      for (const client of clients) {
        expectRefusal(await client.response(), 408, "request_timeout");
        await client.closed;
      }
    });

    // uWebSockets.js has a least rate of its own, 16 KiB/s, and closes without a word.
    if (kind !== "uws") {
      test("a body that drips gets 408, however fast it began", async () => {
        await bench.serve(kind, hashBody(MIB), { bodyWindowMs: 100, bodyWindowBytesMin: 1024 });
        const client = await bench.connect();
        await client.send(request("POST", "/", ["Content-Length: 1000000"]) + "x".repeat(500_000));
        const drip = setInterval(() => void client.send("x").catch(() => undefined), 20);
        expectRefusal(await client.response(), 408, "request_timeout");
        clearInterval(drip);
        await client.closed;
      });
    }

    test("an answer given before the body has come keeps the connection in step", async () => {
      await bench.serve(kind, (exchange) => exchange.respond(exchange.request.path === "/still" ? 200 : 401, TEXT, "who are you"));
      const client = await bench.connect();
      await client.send(request("POST", "/", ["Content-Length: 100000"]));
      expect((await client.response()).status).toBe(401);
      await client.send(Buffer.alloc(100_000, 0x47));
      await stillServes(client);
    });
  });

  describe("heads that are refused", () => {
    test("headers above 16 KiB get 431 and the connection is closed", async () => {
      await bench.serve(kind, echoHead);
      const client = await bench.connect();
      await client.send(request("GET", "/", [`X-Long: ${"a".repeat(17_000)}`]));
      const response = await client.response();
      expectRefusal(response, 431, "headers_too_large");
      expect(response.headers.get("connection")).toBe("close");
      await client.closed;
    });

    test.each([
      ["two lengths", ["Content-Length: 3", "Content-Length: 5"], 400],
      ["a length that is no number", ["Content-Length: 3x"], 400],
      ["a negative length", ["Content-Length: -3"], 400],
      ["length and chunks", ["Content-Length: 3", "Transfer-Encoding: chunked"], 400],
      ["a length beyond all bounds", ["Content-Length: 99999999999999999999"], 400],
    ])("%s: refused, never handled", async (_name, headers, status) => {
      let handled = 0;
      await bench.serve(kind, () => void handled++);
      const client = await bench.connect();
      await client.send(`${request("POST", "/", headers)}abcde`);
      expect((await client.response()).status).toBe(status);
      await client.closed;
      expect(handled).toBe(0);
    });

    test("a transfer encoding other than chunked is refused, never handled", async () => {
      let handled = 0;
      await bench.serve(kind, () => void handled++);
      const client = await bench.connect();
      await client.send(`${request("POST", "/", ["Transfer-Encoding: gzip, chunked"])}0\r\n\r\n`);
      expect([400, 501]).toContain((await client.response()).status);
      await client.closed;
      expect(handled).toBe(0);
    });

    test("a broken chunk gets 400, and its body is never delivered", async () => {
      let delivered = 0;
      const aborted: boolean[] = [];
      const over = deferred();
      await bench.serve(kind, (exchange) => {
        exchange.onAbort(() => aborted.push(exchange.aborted));
        exchange.collectBody(100, () => void delivered++);
        over.resolve();
      });
      const client = await bench.connect();
      await client.send(`${request("POST", "/", ["Transfer-Encoding: chunked"])}zz\r\nabc\r\n`);
      await over.promise;
      expect((await client.response()).status).toBe(400);
      await client.closed;
      expect(delivered).toBe(0);
    });
  });
});
