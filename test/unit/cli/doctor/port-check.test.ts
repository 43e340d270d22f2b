// B18: the doctor looks at every port, and says whose it is.

import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";

import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lockFolder } from "../../../../src/adapters/log/folder-lock.ts";
import { listeningInodes, portFindings } from "../../../../src/cli/doctor/port-check.ts";

let server: Server;
let port = 0;
const folder = mkdtempSync(join(tmpdir(), "vedette-ports-"));
beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

const ports = (change: object) => ({
  ...{ HOST: "127.0.0.1", PORT: 0, OTLP_PORT: 0, OTLP_GRPC_PORT: 0, ALERTS_HOST: "127.0.0.1", ALERTS_PORT: 0, DATA_DIR: folder },
  ...change,
});

it("B18: each of the four ports, another's where another process has it", async () => {
  const found = await portFindings(ports({ OTLP_GRPC_PORT: port, ALERTS_PORT: port }));
  expect(found.map(({ subject, state }) => [subject, state])).toEqual([
    ["PORT", "ok"],
    ["OTLP_PORT", "ok"],
    ["OTLP_GRPC_PORT", "warning"],
    ["ALERTS_PORT", "warning"],
  ]);
  expect(found[2]?.what).toMatch(new RegExp(`is taken by process ${process.pid} .*not the server of this data folder`));
  expect((await portFindings(ports({ PORT: port })))[0]?.state).toBe("problem");
});

it("B18: the server's own where it has the data folder", async () => {
  const lock = lockFolder(folder);
  try {
    const [main] = await portFindings(ports({ PORT: port }));
    expect(main).toMatchObject({ state: "ok", what: expect.stringMatching(/the server that has the data folder/) });
  } finally {
    lock.release();
  }
});

it("reads the kernel's table", () => {
  const row = (place: number, local: string, state: string, inode: number) =>
    `   ${place}: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0`;
  const table = [
    "  sl  local_address rem_address   st ...",
    row(0, "0100007F:1F90", "0A", 77),
    row(1, "0100007F:1F90", "01", 78),
    row(2, "0100007F:1F91", "0A", 79),
  ].join("\n");
  expect(listeningInodes(table, 8080)).toEqual(["77"]);
});
