// Any text where a name stands, by every way in: a name that storage cannot hold is refused, its neighbours are kept, and nothing throws when what was taken is
// committed, leaves memory, comes back and is read again by the next start.
import fc from "fast-check";
import { expect, it } from "vitest";
import { isName } from "../../src/domain/series/name-rule.ts";
import { type ClusterAnswer, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { NAME_PLACES, type NamePlace, NEIGHBOUR, namedBody, WAYS_IN } from "../support/named-bodies.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const IDLE_MS = 60_000;

interface Sent {
  readonly way: string;
  readonly place: NamePlace;
  readonly text: string;
}

const unit = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }),
  fc.integer({ min: 0, max: 0x1f }),
  fc.integer({ min: 0x7e, max: 0xa1 }),
  fc.integer({ min: 0x2026, max: 0x202b }),
  fc.integer({ min: 0xd7fe, max: 0xe001 }),
);
const text = fc.oneof(
  { weight: 4, arbitrary: fc.array(unit, { maxLength: 12 }).map((units) => String.fromCharCode(...units)) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 20 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "\0".repeat(1024),
      "a".repeat(1024),
      "a".repeat(1025),
      "\uffff".repeat(341),
      "😀".repeat(256),
      "m\ud800",
      "__proto__",
      "a\r\nb",
      "",
    ),
  },
);
const sent: fc.Arbitrary<Sent> = fc.record({ way: fc.constantFrom(...WAYS_IN), place: fc.constantFrom(...NAME_PLACES), text });

class Rig {
  readonly clock = new VirtualClock(START);
  readonly machine = { clock: this.clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  #epoch = 0;
  server!: SimulatedServer;

  async start(): Promise<void> {
    this.server = new SimulatedServer({ engines: 1, epoch: ++this.#epoch, seed: 1, ...SMALL_SIZES, idleMs: IDLE_MS }, this.machine);
    await this.server.open();
    await this.server.rest();
  }

  send({ way, place, text: given }: Sent): ClusterAnswer {
    const { kind, bytes } = namedBody(way, place, given, this.clock.wallMs());
    const answers: ClusterAnswer[] = [];
    this.server.submit(0, kind, bytes, "", (answer) => answers.push(answer));
    for (let steps = 0; answers.length === 0 && steps < 1000; steps++) this.server.cluster.step(0);
    this.clock.advance(1000);
    return answers[0] as ClusterAnswer;
  }

  /** Names that lists show. */
  async names(): Promise<string[]> {
    const { series } = (await this.server.query("series", { limit: "1000" })) as { series: Array<Record<string, string>> };
    const { records } = (await this.server.query("records", { limit: "1000" })) as { records: Array<Record<string, string>> };
    await this.server.query("deadLetters", { limit: "1000" });
    return [...series, ...records].flatMap(({ service_id, metric_name, environment, attributes }) =>
      [service_id, metric_name, environment, ...Object.keys(attributes ?? {})].filter((name) => name !== undefined && name !== ""),
    ) as string[];
  }
}

async function holds(bodies: readonly Sent[]): Promise<void> {
  const rig = new Rig();
  await rig.start();
  for (const body of bodies) {
    const { status } = rig.send(body);
    expect([200, 204, 400], JSON.stringify(body)).toContain(status);
  }
  await rig.server.rest();
  expect((await rig.names()).filter((name) => !isName(name))).toEqual([]);
  expect(await rig.names()).toContain(NEIGHBOUR);
  rig.clock.advance(3 * IDLE_MS);
  await rig.server.rest();
  rig.server.kill();
  await rig.start();
  for (const body of bodies) rig.send(body);
  await rig.server.rest();
  expect((await rig.names()).filter((name) => !isName(name))).toEqual([]);
  rig.clock.advance(3 * IDLE_MS);
  await rig.server.rest();
  await rig.server.stop();
  await rig.start();
  expect(await rig.names()).toContain(NEIGHBOUR);
  rig.server.kill();
}

it("any text in any place by any way in is taken or refused, and nothing throws until the next start has read it", async () => {
  await fc.assert(fc.asyncProperty(fc.array(sent, { minLength: 20, maxLength: 40 }), holds), { numRuns: 5 });
});

it.each(WAYS_IN)("by %s: what storage cannot hold ends nothing", async (way) => {
  const texts = ["m\ud800", "\0".repeat(1024), "\0".repeat(900), "a\nb", "\u0085", "\u2028", "\u007f"];
  await holds(NAME_PLACES.flatMap((place) => texts.map((given) => ({ way, place, text: given }))));
});
