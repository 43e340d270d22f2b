// One simulation: a workload posted to a server whose every step, delay and fault a seed decides, and the comparison of what it holds at the
// end with the oracle. The same seed gives the same run.
import { createHash } from "node:crypto";
import { BLOCK_HEADER_BYTES, readBlockSize } from "../../src/adapters/log/block-format.ts";
import { listSegments } from "../../src/adapters/log/log-segment.ts";
import type { RingSizes } from "../../src/adapters/shared-memory/engine-memory.ts";
import { BODY_JSON_BATCH, BODY_JSON_SINGLE } from "../../src/core/protocol/body-kind.ts";
import { eventsOf as eventsOfRow, USAGE } from "../../src/modules/usage/usage-rows.ts";
import { VirtualClock } from "./cluster.ts";
import { type Generator, generator } from "./generator.ts";
import { MemoryDisk } from "./memory-log.ts";
import type { MemoryStoreContents } from "./memory-store.ts";
import { ServerOracle, streamKey } from "./oracle.ts";
import { Holdings, type SeenAnomaly } from "./simulation-holdings.ts";
import { type SimulatedMachine, SimulatedServer } from "./simulation-server.ts";
import { type StreamState, stateDifferences, streamStates } from "./simulation-state.ts";
import { changesKind, makeWorkload, type PlannedBody, START_MS, type StreamPlan, type Workload } from "./simulation-workload.ts";

/** What may go wrong. */
export interface SimulationOptions {
  readonly seed: number;
  /** Undefined: as the seed says, and another number after each start. */
  readonly engines?: number;
  readonly faults: boolean;
}

export interface SimulationReport {
  readonly anomalies: readonly SeenAnomaly[];
  /** What detection knows of each stream at the end. */
  readonly states: ReadonlyMap<string, StreamState>;
  readonly counts: Readonly<Record<string, number>>;
}

/** Actions after which a run that has not ended is broken. */
const ACTIONS_MAX = 400_000;
/** Somebody sets the clock by so much, either way: within what a sample may lie in the future. */
const CLOCK_STEP_MS_MAX = 60_000;

/** More of a torn block says nothing more. */
const TORN_BYTES_MAX = 201;

/** Runs a seed; throws on the first difference. */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const workload = makeWorkload(options.seed);
  const run = new Run(options, workload);
  await run.play();
  const oracle = new ServerOracle();
  for (const sender of workload.senders) for (const body of sender) oracle.take(body);
  const anomalies = await run.compare(oracle);
  const states = await run.finalStates();
  return { anomalies, states, counts: run.counts };
}

/** One sender's state: the body that it is at, and whether it waits for its answer. */
interface Sender {
  readonly bodies: readonly PlannedBody[];
  next: number;
  waits: boolean;
  /** Attempts of a body whose answer was lost, so that it may or may not have been taken. */
  readonly lost: PlannedBody[];
  notBeforeMs: number;
}

/** A disk on which files cannot be created for a while. */
class FaultyDisk extends MemoryDisk {
  createFails = false;

  override openSync(path: string, flags: string): number {
    if (this.createFails && flags === "wx") throw Object.assign(new Error(`EMFILE: ${path}`), { code: "EMFILE" });
    return super.openSync(path, flags);
  }
}

class Run {
  readonly counts: Record<string, number> = {
    starts: 0,
    kills: 0,
    killsInRecovery: 0,
    refused: 0,
    repeats: 0,
    blocks: 0,
    segmentsDeleted: 0,
    checkpoints: 0,
    replayed: 0,
    rows: 0,
  };
  readonly #options: SimulationOptions;
  readonly #random: Generator;
  readonly #machine = {
    clock: new VirtualClock(START_MS),
    disk: new FaultyDisk(),
    control: new Map(),
    series: new Map(),
  } satisfies SimulatedMachine;
  readonly #senders: Sender[];
  readonly #sizes: {
    readonly segmentBytes: number;
    readonly blockBytes: number;
    readonly checkpointCycleBytes: number;
    readonly checkpointLogShare: number;
    readonly checkpointPartBytes: number;
    readonly idleMs: number;
    readonly rings?: RingSizes;
    readonly commitTurnsMax: number;
  };
  readonly #streams: readonly StreamPlan[];
  readonly #killShare: number;
  readonly #logFails: boolean;
  #server: SimulatedServer | undefined;
  /** Events of answered bodies, and of those that may have been taken without an answer. */
  #accepted = 0;
  #acceptedPerhaps = 0;
  #epoch = 0;
  #faultsUntilMs = 0;
  /** Engine that is seldom stepped; -1 for none. */
  #slow = -1;

  constructor(options: SimulationOptions, workload: Workload) {
    this.#options = options;
    this.#random = generator(options.seed * 7919 + (options.faults ? 1 : 0));
    this.#streams = workload.streams;
    this.#senders = workload.senders.map((bodies) => ({ bodies, next: 0, waits: false, lost: [], notBeforeMs: 0 }));
    this.#killShare = options.faults ? 0.0006 * this.#random.uniform() : 0;
    // A definition that a failed write holds back may come to the log after a change of kind, and undo it: not to be held against the rest.
    this.#logFails = !workload.streams.some(changesKind);
    // A query reads 256 blocks of a partition.
    const blockScale = workload.streams.length > 200 ? 16 : 1;
    this.#sizes = {
      segmentBytes: 1024 * 2 ** this.#below(7),
      blockBytes: blockScale * 1024 * 2 ** this.#below(5),
      checkpointCycleBytes: 2 ** (13 + this.#below(8)),
      checkpointLogShare: options.seed % 3 === 0 ? 4 : 0,
      checkpointPartBytes: 2 ** (5 + (options.seed % 11)),
      // Two seeds of three lose streams from memory, also such as have a sample in every body.
      // Narrow rings are often full: 4 KiB to their own sizes.
      ...(options.faults &&
        options.seed % 4 > 0 && {
          rings: { coordinatorBytes: 2 ** (12 + (options.seed % 12)), inboxBytes: 2 ** (12 + (options.seed % 9)) },
        }),
      idleMs: options.faults && options.seed % 3 > 0 ? 1000 * 4 ** (options.seed % 7) : Number.POSITIVE_INFINITY,
      commitTurnsMax: this.#below(12),
      // In half of the runs verdicts are committed ahead of what else engines send.
      ...(options.seed % 2 > 0 && { seriesGatherMs: 1 + (options.seed % 50) }),
    };
  }

  #below(count: number): number {
    return Math.floor(this.#random.uniform() * count);
  }

  #chance(probability: number): boolean {
    return this.#random.uniform() < probability;
  }

  get server(): SimulatedServer {
    if (this.#server === undefined) throw new Error("the server is down");
    return this.#server;
  }

  async play(): Promise<void> {
    await this.#start();
    for (let actions = 0; !this.#isDone; actions++) {
      if (actions > ACTIONS_MAX)
        throw new Error(`the run does not end: ${this.#senders.map(({ next, bodies }) => `${next}/${bodies.length}`).join(" ")}`);
      await this.#act();
    }
    this.#heal();
    await this.server.rest();
    if (!this.#options.faults) return;
    // What the running server says and what a start from disk says must be the same: one of both is compared, by the seed.
    if (this.#chance(0.4)) this.#kill();
    else if (this.#chance(0.5)) await this.#stopOrderly();
    if (this.#server === undefined) await this.#start(true);
    await this.server.rest();
  }

  get #isDone(): boolean {
    return this.#senders.every(({ next, bodies, waits }) => next === bodies.length && !waits);
  }

  async #act(): Promise<void> {
    const u = this.#random.uniform();
    const { clock } = this.#machine;
    if (u < 0.55) this.#stepEngine();
    else if (u < 0.75) await this.server.stepCoordinator();
    else if (u < 0.92) this.#send(this.#senders[this.#below(this.#senders.length)] as Sender);
    else if (u < 0.9202) await this.#look();
    else clock.advance(this.#chance(0.05) ? this.#below(8000) : this.#below(1200));
    if (this.#options.faults) await this.#disturb();
  }

  /** A query while everything goes on: what was acknowledged is there, whatever was sent besides may be. */
  async #look(): Promise<void> {
    if (!this.server.cluster.isReady || this.server.isReadOnly) return;
    const sender = this.#senders[this.#below(this.#senders.length)] as Sender;
    const oracle = new ServerOracle();
    for (const body of sender.bodies.slice(0, sender.next)) oracle.take(body);
    const known = [...oracle.streams.values()];
    const stream = known[this.#below(known.length)];
    if (stream === undefined) return;
    const under = new Set((sender.bodies[sender.next]?.samples ?? []).map(({ timeMs }) => timeMs));
    const found = await new Holdings(this.server, this.#machine.control).samplesOf(stream.plan).catch((error: unknown) => {
      if (!this.server.isReadOnly) throw error;
    });
    if (found === undefined || this.server.isReadOnly) return;
    const { points } = found;
    const seen = new Map(points);
    this.#count("looks", 1);
    for (const [timeMs, value] of stream.samples) {
      const isRight = under.has(timeMs) ? seen.has(timeMs) : seen.get(timeMs) === value;
      if (!isRight) throw new Error(`while running, ${streamKey(stream.plan)} at ${timeMs} is ${seen.get(timeMs)} instead of ${value}`);
    }
  }

  /** Threads do not run alike: one of them may stand still for a while. */
  #stepEngine(): void {
    const engine = this.#below(this.server.engines);
    if (this.#chance(0.01)) this.#slow = this.#chance(0.5) ? this.#below(4) : -1;
    if (engine !== this.#slow || this.#chance(0.03)) this.server.cluster.step(engine);
  }

  async #disturb(): Promise<void> {
    const { disk, clock } = this.#machine;
    const u = this.#random.uniform();
    if (u < this.#killShare) {
      if (this.#chance(0.8)) this.#kill();
      else await this.#stopOrderly();
      await this.#start();
      return;
    }
    if (u < 0.0035 && !this.#logFails) return;
    if (u < 0.002) disk.failNext("writevSync", "ENOSPC");
    else if (u < 0.003) disk.budgetBytes = disk.usedBytes + this.#below(3000);
    else if (u < 0.0035) disk.createFails = true;
    else if (u < 0.0045) (this.#chance(0.5) ? this.server.control : this.server.series).failNext("EIO");
    else if (u < 0.005) (this.#chance(0.5) ? this.server.control : this.server.series).failAll("ENOSPC");
    else if (u < 0.0052) clock.stepWall(this.#below(2 * CLOCK_STEP_MS_MAX) - CLOCK_STEP_MS_MAX);
    else if (clock.monotonicMs() > this.#faultsUntilMs) {
      this.#heal();
      this.#faultsUntilMs = clock.monotonicMs() + this.#below(20_000);
    }
  }

  #heal(): void {
    this.#machine.disk.budgetBytes = Number.POSITIVE_INFINITY;
    this.#machine.disk.createFails = false;
    this.#server?.control.failAll(undefined);
    this.#server?.series.failAll(undefined);
  }

  #send(sender: Sender): void {
    const { clock } = this.#machine;
    const body = sender.bodies[sender.next];
    if (body === undefined || sender.waits || !this.server.cluster.isReady) return;
    if (clock.wallMs() < body.dueMs || clock.monotonicMs() < sender.notBeforeMs) return;
    if (this.server.isReadOnly) {
      this.#refused(sender);
      return;
    }
    const { engines } = this.server;
    const engine =
      body.idempotencyKey === "" ? this.#below(engines) : createHash("sha1").update(body.idempotencyKey).digest().readUInt32LE(0) % engines;
    sender.waits = true;
    this.server.submit(engine, body.kind, body.bytes, body.idempotencyKey, ({ status, body: text }) =>
      this.#answered(sender, body, status, text),
    );
  }

  #refused(sender: Sender): void {
    this.#count("refused", 1);
    sender.notBeforeMs = this.#machine.clock.monotonicMs() + 50;
  }

  #answered(sender: Sender, body: PlannedBody, status: number, text: string | null): void {
    sender.waits = false;
    if (status === 503) this.#refused(sender);
    else if (status !== body.status) throw new Error(`a body is answered ${status} instead of ${body.status}: ${text}`);
    else this.#take(sender, body, text);
  }

  #take(sender: Sender, body: PlannedBody, text: string | null): void {
    this.#accepted += acceptedEvents(body, text);
    if (this.#options.faults && this.#chance(0.05)) {
      // The answer is lost on its way.
      sender.lost.push(body);
      this.#count("repeats", 1);
    } else sender.next++;
  }

  #count(name: string, by: number): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
  }

  /** Everything but disk and stores is gone; the last write may have been cut short. */
  #kill(): void {
    this.#count("kills", 1);
    if (!this.server.cluster.isReady) this.#count("killsInRecovery", 1);
    this.server.kill();
    this.#tally();
    for (const sender of this.#senders) {
      const body = sender.bodies[sender.next];
      if (sender.waits && body !== undefined) {
        sender.lost.push(body);
        this.#acceptedPerhaps += eventsOf(body);
      }
      sender.waits = false;
    }
    this.#heal();
    if (this.#chance(0.3)) this.#tear();
    this.#server = undefined;
  }

  /** A write that was under way: the beginning of a block stands behind the last, and never all of it, which would be a block that was written. */
  #tear(): void {
    const { disk } = this.#machine;
    const own = listSegments("log", disk).filter(({ epoch }) => epoch === this.#epoch);
    const path = own[this.#below(own.length)]?.path;
    if (path === undefined) return;
    const bytes = disk.contents(path);
    const firstBytes = bytes.length < BLOCK_HEADER_BYTES ? 1 : (readBlockSize(bytes, 0)?.bytes ?? 1);
    const tail = bytes.subarray(0, this.#below(Math.min(firstBytes, TORN_BYTES_MAX)));
    disk.overwrite(path, Buffer.concat([bytes, tail]));
  }

  async #stopOrderly(): Promise<void> {
    for (let rounds = 0; this.#senders.some(({ waits }) => waits) || !this.server.cluster.isReady; rounds++) {
      if (rounds > ACTIONS_MAX) throw new Error("answers do not come");
      for (let engine = 0; engine < this.server.engines; engine++) this.server.cluster.step(engine);
      await this.server.stepCoordinator();
      if (this.server.isReadOnly) this.#machine.clock.advance(20);
    }
    this.#heal();
    await this.server.stop();
    this.#tally();
    this.#server = undefined;
  }

  async #start(last = false): Promise<void> {
    for (;;) {
      this.#epoch++;
      this.#count("starts", 1);
      this.#machine.clock.advance(this.#below(2000));
      const engines = this.#options.engines ?? 1 + this.#below(4);
      const server = new SimulatedServer({ engines, epoch: this.#epoch, seed: this.#below(2 ** 30), ...this.#sizes }, this.#machine);
      this.#server = server;
      const dies = !last && this.#options.faults && this.#chance(0.1);
      if (await server.open(dies ? this.#below(40) : undefined)) break;
      this.#count("killsInOpen", 1);
      server.kill();
    }
    if (!last && this.#options.faults && this.#chance(0.25)) {
      const steps = this.#below(60);
      for (let step = 0; step < steps && !this.server.cluster.isReady; step++) {
        this.server.cluster.step(this.#below(this.server.engines));
        if (this.#chance(0.3)) await this.server.stepCoordinator();
      }
      if (!this.server.cluster.isReady) {
        this.#kill();
        await this.#start();
      }
    }
  }

  #tally(): void {
    this.#count("blocks", this.server.counter("blocksStored"));
    this.#count("checkpoints", this.server.counter("checkpointsStored"));
    for (const name of ["streamsEvicted", "streamsReturned"] as const) this.#count(name, this.server.cluster.counter(name));
    this.#count("segmentsDeleted", this.server.segmentsDeleted);
    this.#count("replayed", this.server.cluster.replayedRows);
  }

  /** Compares what clients are told with what they should be. */
  async compare(oracle: ServerOracle): Promise<SeenAnomaly[]> {
    this.#tally();
    for (const { samples } of oracle.streams.values()) this.#count("rows", samples.size);
    const lost = this.#senders.flatMap((sender) => sender.lost);
    return new Holdings(this.server, this.#machine.control).compare(this.#streams, oracle, lost);
  }

  /** What is stored of accepted events, all engines having told what they counted. */
  #compareUsage(): void {
    const counted = storedEvents(this.#machine.series);
    const [least, most] = [this.#accepted, this.#accepted + this.#acceptedPerhaps];
    if (counted < least || counted > most) throw new Error(`${counted} events are counted instead of ${least} to ${most}`);
  }

  /** Stops the server and reads its checkpoints. */
  async finalStates(): Promise<ReadonlyMap<string, StreamState>> {
    await this.server.stop();
    this.#compareUsage();
    return streamStates(this.#machine.series);
  }
}

/** Events that a body has when nothing of it is refused for what it is. */
function eventsOf({ samples, records }: PlannedBody): number {
  return samples.length + records.length;
}

/** Events that an answer reports as accepted. */
function acceptedEvents(body: PlannedBody, text: string | null): number {
  if (body.kind !== BODY_JSON_SINGLE && body.kind !== BODY_JSON_BATCH) return body.samples.length;
  return body.status === 200 ? (JSON.parse(text as string) as { queued: number }).queued : 0;
}

/** Events of all tenants and months, as stored. */
function storedEvents(series: MemoryStoreContents): number {
  let events = 0;
  for (const value of series.get("usage")?.values() ?? []) events += eventsOfRow(USAGE.decode(value));
  return events;
}

/** Throws when two runs of the same workload leave streams in different states. */
export function compareStates(what: string, seen: SimulationReport, expected: SimulationReport): void {
  const differences = stateDifferences(seen.states, expected.states);
  if (differences.length > 0)
    throw new Error(
      `${what}: ${differences.length} differences: ${differences
        .slice(0, 6)
        .map((each) => each.slice(0, 300))
        .join(" | ")}`,
    );
}
