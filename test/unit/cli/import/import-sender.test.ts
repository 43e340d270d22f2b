import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { ImportSender } from "../../../../src/cli/import/import-sender.ts";

const server = createServer();

/** A sender whose pauses take no time, and the reasons for them. */
function senderTo(port: number) {
  const waiting: string[] = [];
  const clock = { monotonicMs: () => 0, wallMs: () => 0 };
  const world = { clock, reportWaiting: (reason: string) => void waiting.push(reason), sleep: () => Promise.resolve() };
  return { sender: new ImportSender({ url: `http://127.0.0.1:${port}`, token: "t" }, world), waiting };
}

afterEach(() => void server.close());

it("says once why a request has to wait, and sends it again", async () => {
  const answers = [503, 503, 200];
  server.on("request", (request, response) => {
    request.resume();
    response.writeHead(answers.shift() ?? 500).end(JSON.stringify({ imported: 2, failed: 0, failures: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { sender, waiting } = senderTo(port);
  expect(await sender.send({ body: "{}", from: 0, to: 2 })).toMatchObject({ imported: 2 });
  expect(waiting).toEqual(["it answered 503"]);
  expect(answers).toEqual([]);
});

it("says that nothing listens at the address, without waiting as for a server that was there", async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise<void>((resolve) => closed.close(() => resolve()));
  const { sender, waiting } = senderTo(port);
  const refusal = new RegExp(`^no server answers at http://127.0.0.1:${port} \\(.*ECONNREFUSED.*\\); is it running there`);
  await expect(sender.send({ body: "{}", from: 0, to: 2 })).rejects.toThrow(refusal);
  expect(waiting).toHaveLength(1);
});
