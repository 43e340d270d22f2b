/**
 * What node:http must do and the pinned native parser cannot, and what that does instead, so that a changed binary is noticed.
 */
import { afterEach, describe, expect, it } from "vitest";
import {
  echoHead,
  expectRefusal,
  hashBody,
  limitByPath,
  MIB,
  request,
  sha256,
  stillServes,
  TEXT,
  uwsMissing,
} from "../support/http-exchanges.ts";
import { ConnectionClosed, type RawHttpClient } from "../support/http-raw-client.ts";
import { deferred, HttpTestBench } from "../support/http-test-server.ts";

const ODD_HEADS: ReadonlyArray<readonly [name: string, head: string]> = [
  ["garbage alone", "\x00garbage\r\n\r\n"],
  ["a header line that is folded", "GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n"],
  ["a NUL in a header", "GET / HTTP/1.1\r\nHost: x\r\nX-A: b\0c\r\n\r\n"],
  ["HTTP/1.1 without Host", "GET / HTTP/1.1\r\nX-A: b\r\n\r\n"],
];

const bench = new HttpTestBench();
afterEach(() => bench.close());

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

  it("D12: the preface of HTTP/2, which is ended in its own protocol with where gRPC is served", async () => {
    await bench.serve("node", echoHead);
    const client = await bench.connect();
    const closed = client.rest();
    await client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    const bytes = await closed;
    // Settings, then a GOAWAY (7) that asks for HTTP/1.1 (13) and carries the advice.
    expect([bytes[3], bytes[9 + 3], bytes.readUInt32BE(9 + 9 + 4)]).toEqual([4, 7, 13]);
    expect(bytes.subarray(9 + 9 + 8).toString()).toMatch(/^gRPC is served .*OTLP_GRPC_PORT \(4317\)/);
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

  it.each(["lttp://v/%00", "ftp://x/", "a"])("a target of another form, %s, gets 400 and is closed", async (target) => {
    await bench.serve("node", echoHead);
    const client = await bench.connect();
    const closed = client.rest();
    await client.send(request("GET", target));
    expect((await closed).toString()).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("100 headers are taken, 101 get 431", async () => {
    await bench.serve("node", echoHead);
    const client = await bench.connect();
    await client.send(
      request(
        "GET",
        "/",
        Array.from({ length: 99 }, (_, i) => `X-${i}: a`),
      ),
    );
    expect((await client.response()).status).toBe(200);
    await client.send(
      request(
        "GET",
        "/",
        Array.from({ length: 100 }, (_, i) => `X-${i}: a`),
      ),
    );
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

  it.each(ODD_HEADS)("%s gets 400 in our words", async (_name, head) => {
    await bench.serve("node", echoHead);
    const client = await bench.connect();
    await client.send(head);
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
    ["a head with lines that end in LF alone", ["GET / HTTP/1.1\nHost: x\n\n"]],
  ])("%s gets 505 and is closed", async (_name, parts) => {
    await bench.serve("uws", echoHead);
    const client = await bench.connect();
    const closed = client.rest();
    await client.sendApart(parts);
    expect((await closed).toString()).toMatch(/^HTTP\/1\.1 505 /);
  });

  /** Serves bodies, answered later, and notes what was handed over. */
  const serveBodies = async (): Promise<string[]> => {
    const delivered: string[] = [];
    await bench.serve("uws", (exchange) =>
      exchange.collectBody(400_000, (body) => {
        delivered.push(body.toString());
        setImmediate(() => exchange.respond(200, TEXT, "taken"));
      }),
    );
    return delivered;
  };
  const chunked = (headers: readonly string[] = []) => request("POST", "/", ["Transfer-Encoding: chunked", ...headers]);

  it.each([
    ["3;ext=1\r\nabc\r\n0\r\n\r\n", "too many digits of a length"],
    ["3;a=b\r\nabc\r\n0\r\n\r\n", "a longer chunk, which does not end"],
    ["2\r\n{}\r\n3;a\r\nabc\r\n0\r\n\r\n", "a longer chunk behind another"],
  ])("a chunk extension, %j, is read as %s: 400, closed, and nothing is handed over", async (body) => {
    const delivered = await serveBodies();
    for (const parts of [[chunked() + body], [chunked(), body], [chunked(), ...body]]) {
      const client = await bench.connect();
      const rest = client.rest();
      await client.sendApart(parts);
      expect((await rest).toString()).toMatch(/^HTTP\/1\.1 400 /);
      await client.closed;
    }
    expect(delivered).toEqual([]);
  });

  it("a chunk extension behind a blank is skipped; content that looks like the end of chunks is content where more follows", async () => {
    const delivered = await serveBodies();
    const client = await bench.connect();
    await client.send(`${chunked()}3 ;a=b\r\nabc\r\n0\r\n\r\n`);
    expect((await client.response()).status).toBe(200);
    await client.sendApart([chunked(), "9\r\nx\r\n0\r\n\r\n", "y\r\n0\r\n\r\n"]);
    expect((await client.response()).status).toBe(200);
    expect(delivered).toEqual(["abc", "x\r\n0\r\n\r\ny"]);
  });

  it("trailers behind a body are taken for the next request: 505, closed, and the body is not handed over", async () => {
    const delivered = await serveBodies();
    for (const trailer of ["Digest: x", "X:GET /smuggled HTTP/1.1\r\nHost: x"]) {
      const client = await bench.connect();
      const rest = client.rest();
      await client.send(`${chunked()}3\r\nabc\r\n0\r\n${trailer}\r\n\r\n`);
      expect((await rest).toString()).not.toContain("200 OK");
      await client.closed;
    }
    expect(delivered).toEqual([]);
  });

  it("trailers that are announced get 501 in our words, or the parser's 505 where they come at once, and close", async () => {
    const delivered = await serveBodies();
    const body = "3\r\nabc\r\n0\r\nDigest: x\r\n\r\n";
    const apart = await bench.connect();
    const rest = apart.rest();
    await apart.sendApart([chunked(["Trailer: Digest"]), body]).catch(() => {});
    expect((await rest).toString()).toMatch(/^HTTP\/1\.1 501 .*trailers are not understood here/s);
    const whole = await bench.connect();
    const answer = whole.rest();
    await whole.send(chunked(["Trailer: Digest"]) + body);
    expect((await answer).toString()).toMatch(/^HTTP\/1\.1 50[15] /);
    expect(delivered).toEqual([]);
  });

  it("requests with bodies that come together are not acted on, and their connection is closed", async () => {
    const delivered = await serveBodies();
    for (const size of [1, 100, 300_000]) {
      const client = await bench.connect();
      const rest = client.rest();
      await client.send(request("POST", "/1", [], "a".repeat(size)) + request("POST", "/2", [], "b"));
      expect((await rest).length).toBe(0);
    }
    expect(delivered.filter((body) => !body.startsWith("aaa"))).toEqual([]);
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

  it("99 headers are taken; more, an odd head, a slow one, silence and a reader that takes nothing are closed in 8 to 12 s, without a word", async () => {
    const server = await bench.serve("uws", (exchange) => {
      if (exchange.request.path === "/stream") exchange.openStream(200, [])?.write(Buffer.alloc(16 * MIB));
      else if (exchange.request.path === "/answer") exchange.respond(200, [], Buffer.alloc(16 * MIB));
      else echoHead(exchange);
    });
    const many = await bench.connect();
    await many.send(
      request(
        "GET",
        "/",
        Array.from({ length: 97 }, (_, i) => `X-${i}: a`),
      ),
    );
    expect((await many.response()).status).toBe(200);
    await many.send(
      request(
        "GET",
        "/",
        Array.from({ length: 99 }, (_, i) => `X-${i}: a`),
      ),
    );
    const slow = await bench.connect();
    await slow.send("GET / HTTP/1.1\r\nHos");
    const silent = await bench.connect();
    for (const path of ["/stream", "/answer"]) {
      const reader = await bench.connect();
      reader.socket.pause();
      await reader.send(request("GET", path));
    }
    const odd: RawHttpClient[] = [];
    for (const [, head] of ODD_HEADS.slice(1, 3)) {
      const client = await bench.connect();
      await client.send(head);
      odd.push(client);
    }
    for (const client of [many, slow, silent, ...odd]) expect((await client.rest()).length).toBe(0);
    await expect.poll(() => server.openConnections).toBe(0);
  });
});
