/**
 * The contract of src/adapters/http/http-server.ts, held against both adapters. The last part states what only node:http does, and what the
 * pinned native parser does instead, so that a changed binary is noticed.
 */
import { createHash, randomBytes } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createHttpServer } from "../../src/adapters/http/http-engine.ts";
import type { HttpExchange, HttpHandler, HttpStream } from "../../src/adapters/http/http-server.ts";
import { loadUwsLibrary, uwsBinaryFault, uwsBinaryName } from "../../src/adapters/http/uws/uws-library.ts";
import { ConnectionClosed, RawHttpClient } from "../support/http-raw-client.ts";
import { HttpTestBench, deferred } from "../support/http-test-server.ts";

const MIB = 1024 * 1024;
const TEXT = [["Content-Type", "text/plain"]] as const;

const loadedUws = loadUwsLibrary();
const uwsMissing = "reason" in loadedUws ? loadedUws.reason : undefined;
if (uwsMissing !== undefined) {
  if (process.env["CI"]) throw new Error(`uws must not be skipped in CI: ${uwsMissing}`);
  process.stderr.write(`http-adapters: uws skipped: ${uwsMissing}\n`);
}

const bench = new HttpTestBench();
afterEach(() => bench.close());

function request(method: string, target: string, headers: readonly string[] = [], body = ""): string {
  const lines = [`${method} ${target} HTTP/1.1`, "Host: vedette", ...headers];
  if (body !== "") lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

function sha256(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** Answers what it was asked. */
const echoHead: HttpHandler = (exchange) => {
  const { method, path, query, remoteAddress } = exchange.request;
  const seen = { method, path, query, remoteAddress, accept: exchange.request.header("accept"), absent: exchange.request.header("x-absent") };
  exchange.respond(200, [["Content-Type", "application/json"]], JSON.stringify(seen));
};

/** Answers in a later turn, length and hash of the body. */
function hashBody(maxBytes: number): HttpHandler {
  return (exchange) => {
    exchange.collectBody(maxBytes, (body) => {
      const answer = `${body.length} ${sha256(body)}`;
      setImmediate(() => exchange.respond(200, TEXT, answer));
    });
  };
}

/** Stops at the body limit given by the path, as in `/10`. */
const limitByPath: HttpHandler = (exchange) => hashBody(Number(exchange.request.path.slice(1)))(exchange);

function expectRefusal(response: { status: number; body: Buffer }, status: number, code: string): void {
  expect(response.status).toBe(status);
  expect(JSON.parse(response.body.toString())).toMatchObject({ status, code });
}

async function stillServes(client: RawHttpClient): Promise<void> {
  await client.send(request("GET", "/still"));
  expect((await client.response()).status).toBe(200);
}

describe.each(["uws", "node"] as const)("HTTP over %s", (kind) => {
  const test = it.skipIf(kind === "uws" && uwsMissing !== undefined);

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
      expect(JSON.parse((await client.response()).body.toString())).toMatchObject({ method: "DELETE", path: "/later", query: "q", accept: "text/html" });
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
      await bench.serve(kind, (exchange) => attempts[Number(exchange.request.path.slice(1))]?.(exchange), { answerBytesMax: 100 });
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

    test("bodies beyond the memory for bodies get 503", async () => {
      await bench.serve(kind, limitByPath, { bodyBytesInUseMax: 32 * 1024, bodyBytesRetainedMax: 0 });
      const client = await bench.connect();
      await client.send(request("POST", "/100000", ["Content-Length: 50000"]));
      await client.send(Buffer.alloc(50_000));
      expectRefusal(await client.response(), 503, "overloaded");
      await client.closed;
      const next = await bench.connect();
      await next.send(request("POST", "/100000", [], "z".repeat(16_000)));
      expect((await next.response()).status).toBe(200);
    });

    test("a client that vanishes within its body never reaches onBody, and gives its memory back", async () => {
      const seen: string[] = [];
      let aborted = deferred();
      let begun = deferred();
      await bench.serve(
        kind,
        (exchange) => {
          exchange.onAbort(() => aborted.resolve());
          exchange.collectBody(100_000, () => exchange.respond(200, TEXT, String(seen.push("body"))));
          begun.resolve();
        },
        { bodyBytesInUseMax: 32 * 1024, bodyBytesRetainedMax: 0 },
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

describe("what only node:http does", () => {
  it("a request line in several packets", async () => {
    await bench.serve("node", echoHead);
    const client = await bench.connect();
    await client.sendApart(["GE", "T /li", "ne HT", "TP/1.1\r\nHost: x\r\n\r\n"]);
    expect(JSON.parse((await client.response()).body.toString())).toMatchObject({ path: "/line" });
  });

  it("HTTP/1.0, which closes after the answer", async () => {
    await bench.serve("node", echoHead);
    const client = await bench.connect();
    await client.send("GET /old HTTP/1.0\r\n\r\n");
    expect(JSON.parse((await client.response()).body.toString())).toMatchObject({ path: "/old" });
    await client.closed;
  });

  it("chunk extensions and trailers, which are skipped", async () => {
    await bench.serve("node", hashBody(100));
    const client = await bench.connect();
    await client.send(`${request("POST", "/", ["Transfer-Encoding: chunked"])}3;a=b\r\nabc\r\n0\r\nDigest: x\r\n\r\n`);
    expect((await client.response()).body.toString()).toBe(`3 ${sha256(Buffer.from("abc"))}`);
    await stillServes(client);
  });

  it("a target with scheme and host", async () => {
    await bench.serve("node", echoHead);
    const client = await bench.connect();
    await client.send(request("GET", "http://vedette/proxy?q"));
    expect(JSON.parse((await client.response()).body.toString())).toMatchObject({ path: "/proxy", query: "q" });
    await client.send(request("GET", "http://vedette?q"));
    expect(JSON.parse((await client.response()).body.toString())).toMatchObject({ path: "/", query: "q" });
  });

  it("100 headers are taken, 101 get 431", async () => {
    await bench.serve("node", echoHead);
    const client = await bench.connect();
    await client.send(request("GET", "/", Array.from({ length: 99 }, (_, i) => `X-${i}: a`)));
    expect((await client.response()).status).toBe(200);
    await client.send(request("GET", "/", Array.from({ length: 100 }, (_, i) => `X-${i}: a`)));
    expectRefusal(await client.response(), 431, "headers_too_large");
    await client.closed;
  });

  it("pipelined requests with an answer due start one after the other and are answered in order", async () => {
    const log: string[] = [];
    await bench.serve("node", (exchange) => {
      log.push(`start ${exchange.request.path}`);
      exchange.collectBody(100, (body) => {
        setTimeout(() => {
          log.push(`answer ${exchange.request.path}`);
          exchange.respond(200, TEXT, body.toString());
        }, 5);
      });
    });
    const client = await bench.connect();
    await client.send(request("POST", "/1", [], "one") + request("POST", "/2", [], "two") + request("POST", "/3", [], "three"));
    for (const body of ["one", "two", "three"]) expect((await client.response()).body.toString()).toBe(body);
    expect(log).toEqual(["start /1", "answer /1", "start /2", "answer /2", "start /3", "answer /3"]);
  });

  it("a client that pipelines without measure loses its connection", async () => {
    await bench.serve("node", () => {}, { pipelinedMax: 3 });
    const client = await bench.connect();
    await client.send(request("GET", "/").repeat(5));
    await client.closed;
  });

  it("garbage behind a request with its answer due closes without a word that could be taken for the answer", async () => {
    const aborted = deferred();
    await bench.serve("node", (exchange) => exchange.onAbort(() => aborted.resolve()));
    const client = await bench.connect();
    await client.send(`${request("GET", "/")}\x00garbage\r\n\r\n`);
    expect((await client.rest()).length).toBe(0);
    await aborted.promise;
  });

  it("garbage alone gets 400 in our words", async () => {
    await bench.serve("node", echoHead);
    const client = await bench.connect();
    await client.send("\x00garbage\r\n\r\n");
    expectRefusal(await client.response(), 400, "bad_request");
    await client.closed;
  });

  it("a client that closes its sending side still gets its answer", async () => {
    await bench.serve("node", (exchange) => setImmediate(() => exchange.respond(200, TEXT, "read on")));
    const client = await bench.connect({ allowHalfOpen: true });
    client.socket.end(request("GET", "/"));
    expect((await client.response()).body.toString()).toBe("read on");
  });

  it("Expect: 100-continue with a body declared too long is refused before a continue", async () => {
    await bench.serve("node", limitByPath);
    const client = await bench.connect();
    await client.send(request("POST", "/1000", ["Content-Length: 1001", "Expect: 100-continue"]));
    expectRefusal(await client.response(), 413, "body_too_large");
    await client.closed;
  });

  it("an expectation that is not understood gets 417", async () => {
    await bench.serve("node", echoHead);
    const client = await bench.connect();
    await client.send(request("POST", "/", ["Expect: miracles"], "abc"));
    expectRefusal(await client.response(), 417, "expectation_failed");
  });

  it("a head that comes too slowly gets 408, a silent connection too", async () => {
    await bench.serve("node", echoHead, { headerTimeoutMs: 100 });
    const clients = [await bench.connect(), await bench.connect()];
    await clients[0]?.send("GET / HTTP/1.1\r\nHos");
    for (const client of clients) {
      expectRefusal(await client.response(), 408, "request_timeout");
      await client.closed;
    }
  });

  it("a connection that rests too long is closed", async () => {
    await bench.serve("node", echoHead, { idleTimeoutMs: 50 });
    const client = await bench.connect();
    await stillServes(client);
    await client.closed;
  });

  it("a reader that takes nothing of an answer or a stream for too long is cut off", async () => {
    const aborted = [deferred(), deferred()];
    await bench.serve(
      "node",
      (exchange) => {
        const which = exchange.request.path === "/stream" ? 1 : 0;
        exchange.onAbort(() => aborted[which]?.resolve());
        if (which === 0) exchange.respond(200, [], Buffer.alloc(16 * MIB));
        else exchange.openStream(200, [])?.write(Buffer.alloc(16 * MIB));
      },
      { writeStallTimeoutMs: 100 },
    );
    for (const path of ["/answer", "/stream"]) {
      const client = await bench.connect();
      client.socket.pause();
      await client.send(request("GET", path));
    }
    await Promise.all(aborted.map((each) => each.promise));
  });

});

describe.skipIf(uwsMissing !== undefined)("what the pinned uws does instead", () => {
  it.each([
    ["a request line cut within its version", ["GET / HT", "TP/1.1\r\nHost: x\r\n\r\n"]],
    ["HTTP/1.0", ["GET / HTTP/1.0\r\nHost: x\r\n\r\n"]],
    ["a target with scheme and host", ["GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n"]],
    ["garbage", ["\x00garbage\r\n\r\n"]],
  ])("%s gets 505 and is closed", async (_name, parts) => {
    await bench.serve("uws", echoHead);
    const client = await bench.connect();
    const closed = client.rest();
    await client.sendApart(parts);
    expect((await closed).toString()).toMatch(/^HTTP\/1\.1 505 /);
  });

  it("a chunk extension is read as digits of the length, here too many: 400; trailers are taken for the next request, which loses the answer", async () => {
    const delivered: string[] = [];
    await bench.serve("uws", (exchange) => exchange.collectBody(100, (body) => void delivered.push(body.toString())));
    const extended = await bench.connect();
    await extended.send(`${request("POST", "/", ["Transfer-Encoding: chunked"])}3;ext=1\r\nabc\r\n0\r\n\r\n`);
    expect((await extended.rest()).toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect(delivered).toEqual([]);
    const trailed = await bench.connect();
    await trailed.send(`${request("POST", "/", ["Transfer-Encoding: chunked"])}3\r\nabc\r\n0\r\nDigest: x\r\n\r\n`);
    expect((await trailed.rest()).toString()).toMatch(/^HTTP\/1\.1 505 /);
    expect(delivered).toEqual(["abc"]);
  });

  it("a pipelined request with an answer due aborts the exchange and closes the connection", async () => {
    const aborted = deferred();
    await bench.serve("uws", (exchange) => exchange.onAbort(() => aborted.resolve()));
    const client = await bench.connect();
    await client.send(request("GET", "/1") + request("GET", "/2"));
    await aborted.promise;
    await expect(client.response()).rejects.toThrow(ConnectionClosed);
  });

  it("a client that closes its sending side loses its answer", async () => {
    const aborted = deferred();
    await bench.serve("uws", (exchange) => exchange.onAbort(() => aborted.resolve()));
    const client = await bench.connect({ allowHalfOpen: true });
    client.socket.end(request("GET", "/"));
    await aborted.promise;
    await expect(client.response()).rejects.toThrow(ConnectionClosed);
  });

  it("Expect: 100-continue is told to continue before the handler can refuse", async () => {
    await bench.serve("uws", limitByPath);
    const client = await bench.connect();
    await client.send(request("POST", "/1000", ["Content-Length: 1001", "Expect: 100-continue"]));
    expect((await client.response()).status).toBe(100);
    expectRefusal(await client.response(), 413, "body_too_large");
    await client.closed;
  });

  it("a head above 4 KiB in several packets gets the parser's own 431", async () => {
    await bench.serve("uws", echoHead);
    const client = await bench.connect();
    await client.sendApart([`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(5000)}`, "a\r\n\r\n"]);
    expect((await client.response()).status).toBe(431);
    await client.closed;
  });

  it("a second of two lengths is visible, so that we can refuse what the parser takes", async () => {
    await bench.serve("uws", echoHead);
    const client = await bench.connect();
    await client.send(`${request("POST", "/", ["Content-Length: 3", "Content-Length: 5"])}abcde`);
    expectRefusal(await client.response(), 400, "bad_request");
  });

  it("99 headers are taken; more, a slow head, silence and a reader that takes nothing are closed in 8 to 12 s, without a word", async () => {
    const server = await bench.serve("uws", (exchange) => {
      if (exchange.request.path === "/stream") exchange.openStream(200, [])?.write(Buffer.alloc(16 * MIB));
      else if (exchange.request.path === "/answer") exchange.respond(200, [], Buffer.alloc(16 * MIB));
      else echoHead(exchange);
    });
    const many = await bench.connect();
    await many.send(request("GET", "/", Array.from({ length: 97 }, (_, i) => `X-${i}: a`)));
    expect((await many.response()).status).toBe(200);
    await many.send(request("GET", "/", Array.from({ length: 99 }, (_, i) => `X-${i}: a`)));
    const slow = await bench.connect();
    await slow.send("GET / HTTP/1.1\r\nHos");
    const silent = await bench.connect();
    for (const path of ["/stream", "/answer"]) {
      const reader = await bench.connect();
      reader.socket.pause();
      await reader.send(request("GET", path));
    }
    for (const client of [many, slow, silent]) expect((await client.rest()).length).toBe(0);
    await expect.poll(() => server.openConnections, { timeout: 20_000 }).toBe(0);
  });
});

describe("choosing the adapter", () => {
  const name = uwsBinaryName();
  const folder = mkdtempSync(join(tmpdir(), "vedette-uws-"));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.skipIf(uwsMissing !== undefined)("a binary that differs in one bit is not loaded", () => {
    const original = join(dirname(createRequire(import.meta.url).resolve("uWebSockets.js")), name);
    copyFileSync(original, join(folder, name));
    expect(uwsBinaryFault(folder)).toBeUndefined();
    const content = readFileSync(original);
    content[content.length - 1] = (content[content.length - 1] ?? 0) ^ 1;
    writeFileSync(join(folder, name), content);
    expect(uwsBinaryFault(folder)).toContain(`${name} has sha256`);
    expect(loadUwsLibrary(folder)).toMatchObject({ reason: expect.stringContaining("has sha256") });
  });

  it("a folder without the binary is a reason, not an exception", () => {
    expect(loadUwsLibrary(join(folder, "absent"))).toMatchObject({ reason: expect.stringContaining(name) });
  });

  it("node needs no reason; auto says why it is not uws", () => {
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    expect(createHttpServer("node", bench.options(), echoHead, log).engineName).toBe("node");
    const chosen = createHttpServer("auto", bench.options(), echoHead, log).engineName;
    expect([chosen, lines.length]).toEqual(uwsMissing === undefined ? ["uws", 0] : ["node", 1]);
  });
});
