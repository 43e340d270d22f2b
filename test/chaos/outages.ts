// What befalls the process itself, one after the other in an order by seed, each kind once before any comes again.
import type { Random } from "../fuzz/input/random.ts";
import type { ChaosServer } from "./chaos-server.ts";

const HOUR_MS = 3_600_000;
const STOPPED_MS_MAX = 6_000;
const FULL_MS = 5_000;
const SHIFTED_MS = 12_000;
const CHILD_STOPPED_MS = 8_000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface Outage {
  readonly name: string;
  /** Whether requests may fail meanwhile. */
  readonly isOutage: boolean;
  run(server: ChaosServer, random: Random): Promise<void>;
}

async function shifted(server: ChaosServer, ms: number): Promise<void> {
  server.shiftClock(ms);
  await pause(SHIFTED_MS);
  server.shiftClock(0);
  await pause(SHIFTED_MS / 2);
}

function signalChild(server: ChaosServer, random: Random, signal: NodeJS.Signals): number | undefined {
  const children = server.children;
  if (children.length === 0) return undefined;
  const pid = random.pick(children);
  try {
    process.kill(pid, signal);
    return pid;
  } catch {
    return undefined; // it has ended meanwhile
  }
}

function goOn(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // it was ended by its parent, which had waited long enough
  }
}

const OUTAGES: readonly Outage[] = [
  { name: "kill -9", isOutage: true, run: (server) => server.restart("SIGKILL") },
  {
    name: "stopped (SIGSTOP) and resumed",
    isOutage: true,
    run: async (server, random) => {
      const { process: stopped } = server;
      stopped.signal("SIGSTOP");
      await pause(500 + random.below(STOPPED_MS_MAX));
      stopped.signal("SIGCONT");
    },
  },
  {
    name: "full disk",
    isOutage: true,
    run: async (server) => {
      server.fillDisk();
      await pause(FULL_MS);
      server.emptyDisk();
    },
  },
  { name: "clock an hour ahead and back", isOutage: false, run: (server) => shifted(server, HOUR_MS) },
  { name: "clock an hour behind and back", isOutage: false, run: (server) => shifted(server, -HOUR_MS) },
  {
    name: "child stopped and resumed",
    isOutage: false,
    run: async (server, random) => {
      const pid = signalChild(server, random, "SIGSTOP");
      await pause(CHILD_STOPPED_MS);
      goOn(pid);
    },
  },
  {
    name: "child killed",
    isOutage: false,
    run: async (server, random) => {
      signalChild(server, random, "SIGKILL");
    },
  },
  { name: "stopped in order and started", isOutage: true, run: (server) => server.restart("SIGTERM") },
];

export class OutageSchedule {
  /** How often each was done. */
  readonly done = new Map<string, number>();
  readonly #server: ChaosServer;
  readonly #random: Random;
  #left: Outage[] = [];

  constructor(server: ChaosServer, random: Random) {
    this.#server = server;
    this.#random = random;
  }

  /** Does the next one, whole, and says which. */
  async next(): Promise<string> {
    if (this.#left.length === 0) this.#left = OUTAGES.filter(({ name }) => name !== "full disk" || this.#server.hasDisk);
    const [outage] = this.#left.splice(this.#random.below(this.#left.length), 1) as [Outage];
    const work = () => outage.run(this.#server, this.#random);
    await (outage.isOutage ? this.#server.outage(work) : work());
    this.done.set(outage.name, (this.done.get(outage.name) ?? 0) + 1);
    return outage.name;
  }
}
