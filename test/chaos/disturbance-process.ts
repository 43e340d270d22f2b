// The process that disturbs: its parent says "on" and "off", and hears each second how often each was done and what was answered.
import { cutConnections } from "./cut-connections.ts";
import type { Disturbance, DisturbanceTarget } from "./disturbance.ts";
import { oddBodies } from "./odd-bodies.ts";
import { oddNames } from "./odd-names.ts";
import { SlowPeers } from "./slow-peers.ts";

const TICK_MS = 50;
const REPORT_MS = 1_000;
/** Of one kind, without an answer: the next ones wait. */
const WAITING_MAX = 8;

/** What the parent is told of a kind: how often each status was answered since the last time. */
export interface DisturbanceReport {
  readonly name: string;
  readonly statuses: Readonly<Record<string, number>>;
  /** Numbers of what was answered with 500; each replays it. */
  readonly faults: readonly number[];
}

/** One kind at its rate. */
class Repetition {
  readonly #disturbance: Disturbance;
  #statuses: Record<string, number> = {};
  #faults: number[] = [];
  #number = 0;
  #due = 0;
  #waiting = 0;

  constructor(disturbance: Disturbance) {
    this.#disturbance = disturbance;
  }

  tick(): void {
    this.#due += (this.#disturbance.perSecond * TICK_MS) / 1_000;
    for (; this.#due >= 1; this.#due--) if (this.#waiting < WAITING_MAX) void this.#once(this.#number++);
  }

  async #once(number: number): Promise<void> {
    this.#waiting++;
    const status = await this.#disturbance.once(number).catch(() => 0);
    this.#waiting--;
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    if (status === 500) this.#faults.push(number);
  }

  take(): DisturbanceReport {
    const report = { name: this.#disturbance.name, statuses: this.#statuses, faults: this.#faults };
    this.#statuses = {};
    this.#faults = [];
    return report;
  }
}

async function main(target: DisturbanceTarget, receiverPort: number): Promise<void> {
  process.on("disconnect", () => process.exit(0));
  const peers = new SlowPeers(target);
  await peers.listen(receiverPort);
  const repetitions = [await cutConnections(target), oddNames(target), oddBodies(target)].map((each) => new Repetition(each));
  let isOn = false;
  process.on("message", (message) => {
    if (isOn === (message === "on")) return;
    isOn = message === "on";
    if (isOn) peers.start();
    else peers.stop();
  });
  setInterval(() => {
    if (isOn) for (const each of repetitions) each.tick();
  }, TICK_MS);
  setInterval(() => process.send?.(repetitions.map((each) => each.take())), REPORT_MS);
  process.send?.([]);
}

const [target = "{}", receiverPort = "0"] = process.argv.slice(2);
await main(JSON.parse(target) as DisturbanceTarget, Number(receiverPort));
