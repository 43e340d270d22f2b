// A URL that a tenant has set leads to no address inside: literals in each of their spellings, names that resolve to one, and redirects.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forbiddenAddress, forbiddenUrl } from "../../src/adapters/http-client/address-guard.ts";
import { OutboundHttp } from "../../src/adapters/http-client/outbound-http.ts";

/** Spellings of a host; `{port}` is the port of a server on loopback that must never be asked. */
const LOOPBACK = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "0x7f.1",
  "0x7f000001",
  "2130706433",
  "017700000001",
  "0177.0.0.1",
  "127.255.255.254",
  "0.0.0.0",
  "0",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:7f00:0001]",
  "[::127.0.0.1]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "[2002:7f00:0001::1]",
  "localhost",
  "LOCALHOST",
  "①②⑦.0.0.1",
]; // prettier-ignore
const INSIDE = [
  "10.0.0.1",
  "10.255.255.255",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.64.0.1",
  "100.127.255.255",
  "169.254.1.1",
  "[fe80::1]",
  "[fc00::1]",
  "[fd12:3456::1]",
  "[fec0::1]",
  "[::ffff:10.0.0.1]",
  "[64:ff9b::10.0.0.1]",
  "[2002:a00:1::]",
  "[2002:c0a8:101::]",
]; // prettier-ignore
const NOWHERE = [
  "224.0.0.1",
  "255.255.255.255",
  "240.0.0.1",
  "192.0.2.1",
  "198.18.0.1",
  "[ff02::1]",
  "[2001:db8::1]",
  "[2001::1]",
  "[64:ff9b:1::1]",
  "[100::1]",
];
const METADATA = [
  "169.254.169.254",
  "[::ffff:169.254.169.254]",
  "[::ffff:a9fe:a9fe]",
  "[64:ff9b::169.254.169.254]",
  "[2002:a9fe:a9fe::]",
  "2852039166",
  "0xa9.0xfe.0xa9.0xfe",
  "100.100.100.200",
  "168.63.129.16",
  "169.254.170.2",
  "169.254.42.42",
  "169.254.0.23",
  "[fd00:42::42]",
  "[fd00:ec2::254]",
  "[FD00:0EC2:0:0:0:0:0:0254]",
]; // prettier-ignore

const FORMS = [...LOOPBACK, ...INSIDE, ...NOWHERE, ...METADATA];

let asked = 0;
let server: Server;
let port = 0;
const guarded = (allowPrivate: boolean) =>
  new OutboundHttp({ guard: { allowPrivate }, connectionsPerOrigin: 2, monotonicMs: () => performance.now(), wallMs: () => Date.now() });
const REQUEST = { method: "POST", headers: { "content-type": "application/json" }, body: "{}", timeoutMs: 3_000 } as const;

beforeAll(async () => {
  server = createServer((_, response) => {
    asked += 1;
    response.writeHead(302, { location: `http://127.0.0.1:${port}/again` }).end("x".repeat(100_000));
  });
  await new Promise<void>((resolve) => server.listen(0, "::", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

describe("a URL of a tenant", () => {
  it("is tried in sixty forms and more", () => {
    expect(new Set(FORMS).size).toBeGreaterThanOrEqual(60);
  });

  it.each(FORMS)("%s is not asked", async (host) => {
    const client = guarded(false);
    const answer = await client.send({ ...REQUEST, url: `http://${host}:${port}/` });
    await client.close();
    expect(answer).toMatchObject({ kind: "failed", blocked: true, mayHaveArrived: false });
    expect(asked).toBe(0);
  });

  it.each([...METADATA, ...NOWHERE])("%s is not asked where private addresses are allowed", (host) => {
    expect(forbiddenUrl(`http://${host}/`, true)).not.toBeNull();
  });

  it.each([
    "file:///etc/passwd",
    "gopher://x/",
    "ftp://x/",
    "http://user:pw@example.com/",
    "javascript:1",
    "http://",
    "//x",
    "unix:/run/x",
  ])("%s is refused", (url) => {
    expect(forbiddenUrl(url, true)).not.toBeNull();
  });

  it("may lead outside", () => {
    for (const host of ["8.8.8.8", "[2606:4700::1111]", "example.com"]) expect(forbiddenUrl(`https://${host}/hook`, false)).toBeNull();
    for (const address of ["1.1.1.1", "172.32.0.1", "100.128.0.1", "::ffff:8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"]) {
      expect(forbiddenAddress(address, false)).toBeNull();
    }
  });

  it("is asked where private addresses are allowed; redirects are not followed, and of a long answer the beginning is read", async () => {
    const client = guarded(true);
    const before = asked;
    const answer = await client.send({ ...REQUEST, url: `http://127.0.0.1:${port}/` });
    await client.close();
    expect(answer).toMatchObject({ kind: "answered", status: 302 });
    expect(answer.kind === "answered" && answer.text.length).toBeLessThanOrEqual(2_048);
    expect(asked).toBe(before + 1);
  });

  it("of a closed port has not arrived", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const free = (closed.address() as AddressInfo).port;
    await new Promise((resolve) => closed.close(resolve));
    const client = guarded(true);
    expect(await client.send({ ...REQUEST, url: `http://127.0.0.1:${free}/` })).toMatchObject({
      kind: "failed",
      mayHaveArrived: false,
      blocked: false,
    });
    await client.close();
  });
});
