// What systemd hears: a socket of the test's own in systemd's place (Perl, which every Debian has: Node opens no datagram sockets of files), and the server as the unit starts it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SystemdLink } from "../../src/adapters/platform/systemd-link.ts";
import { ServerBench } from "../support/server-process.ts";
import { until } from "../support/until.ts";

/** Prints each datagram as a line, members parted by blanks. */
const LISTENER = `use Socket; my ($s, $m); $| = 1; socket($s, AF_UNIX, SOCK_DGRAM, 0) or die $!; bind($s, sockaddr_un($ARGV[0])) or die $!;
while (defined recv($s, $m, 4096, 0)) { next if $m =~ /^BARRIER/; $m =~ s/\\n/ | /g; print "$m\\n" }`;

const bench = new ServerBench();
const folder = mkdtempSync(join(tmpdir(), "vedette-notify-"));
const socket = join(folder, "notify");
const heard: string[] = [];
let listener: ChildProcess;

beforeAll(async () => {
  listener = spawn("perl", ["-e", LISTENER, socket], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  listener.stdout?.on("data", (bytes: Buffer) => {
    text += bytes.toString();
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    heard.push(...lines);
  });
  await hears(() => existsSync(socket));
});
afterAll(async () => {
  await bench.close();
  listener.kill();
  await once(listener, "close");
  rmSync(folder, { recursive: true });
});

/** Waits until the manager has heard what is wanted. */
async function hears(isHeard: () => boolean): Promise<void> {
  await until("the manager hears it", () => [...heard], isHeard, { everyMs: 10 });
}

function managerAt(path: string | undefined, watchdogUsec = 300_000_000, programs = process.env.PATH as string) {
  const lines: string[] = [];
  const options = { socket: path, watchdogUsec, cycleSeconds: 60, path: programs };
  return { manager: new SystemdLink(options, (level, msg) => lines.push(`${level} ${msg}`)), lines };
}

describe("what systemd hears of the server", () => {
  it("is READY with its address once it serves, WATCHDOG by cycles of the evaluation loop, and STOPPING", async () => {
    const environment = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: "10000000", PATH: process.env.PATH as string };
    const server = await bench.start({ ...environment, WATCHDOG_INTERVAL_SECONDS: "5", ENGINES: "1" });
    await hears(() => heard.length >= 2);
    // 10 s are less than three cycles: the server asks for as much.
    expect(heard[0]).toBe(`READY=1 | STATUS=serves ${server.origin} | WATCHDOG_USEC=15000000`);
    expect(heard[1]).toBe("WATCHDOG=1");
    const { watchdog } = await server.get<{ watchdog: { cycles: number } }>("/api/v1/status");
    expect(watchdog.cycles).toBeGreaterThanOrEqual(1);
    server.signal("SIGTERM");
    expect(await server.ended).toBe(0);
    await hears(() => heard.some((line) => line.startsWith("STOPPING=1 | STATUS=")));
    expect(server.output).not.toContain("systemd is not told");
  });

  it("is one message of all that came up while another was on its way", async () => {
    heard.length = 0;
    const { manager, lines } = managerAt(socket);
    manager.ready("http://127.0.0.1:1");
    for (let cycle = 0; cycle < 5; cycle++) manager.cycleEnded();
    manager.stopping();
    await hears(() => heard.length === 2);
    expect(heard).toEqual([
      "READY=1 | STATUS=serves http://127.0.0.1:1",
      "WATCHDOG=1 | STOPPING=1 | STATUS=answers what is under way, and writes checkpoints",
    ]);
    expect(lines).toEqual([]);
  });

  it("is nothing without a socket, and no beat without a watchdog", async () => {
    heard.length = 0;
    const { manager: alone } = managerAt(undefined);
    alone.ready("http://127.0.0.1:1");
    const { manager } = managerAt(socket, 0);
    manager.cycleEnded();
    manager.ready("http://127.0.0.1:2");
    await hears(() => heard.length === 1);
    expect(heard).toEqual(["READY=1 | STATUS=serves http://127.0.0.1:2"]);
  });

  it("is told once where it cannot be told", async () => {
    const { manager, lines } = managerAt(socket, 300_000_000, folder);
    manager.ready("http://127.0.0.1:1");
    await hears(() => lines.length === 1);
    manager.cycleEnded();
    manager.stopping();
    expect(lines).toEqual([expect.stringMatching(/^warn systemd is not told how the server is: systemd-notify: .*ENOENT/)]);
  });

  it("is what the unit waits for", () => {
    const unit = readFileSync("packaging/vedette.service", "utf8");
    for (const line of ["Type=notify", "NotifyAccess=all", "WatchdogSec=300", "TimeoutStartSec=infinity"])
      expect(unit.split("\n")).toContain(line);
  });
});
