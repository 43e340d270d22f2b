import { describe, expect, it } from "vitest";
import { ColdStreams } from "../../../../src/actors/engine/cold/cold-streams.ts";
import { EngineCounters } from "../../../../src/actors/engine/report/engine-counters.ts";
import { StreamRegistry } from "../../../../src/actors/engine/shard/stream-registry.ts";
import { ServiceIndex } from "../../../../src/actors/engine/streams/service-index.ts";
import { StreamChanges } from "../../../../src/actors/engine/streams/stream-changes.ts";
import { decodeDefinition } from "../../../../src/actors/engine/unit/work-unit.ts";
import { EngineMemory, ProcessSlots } from "../../../../src/adapters/shared-memory/engine-memory.ts";
import { ATTRIBUTES_MAX, IDENTITY_BYTES_MAX, NAME_BYTES_MAX, VALUE_BYTES_MAX } from "../../../../src/core/config/limits.ts";
import {
  STATUS_ALLOWANCE_SPENT,
  STATUS_ASK_OWNER,
  STATUS_DEFINITIONS_FULL,
  STATUS_DONE,
  STATUS_OK,
  STATUS_UNKNOWN_STREAM,
} from "../../../../src/core/layout/kernel-status.ts";
import { DEFINITIONS, DEFINITIONS_BYTES, PROCESS_LENGTH_BYTES, SCRATCH } from "../../../../src/core/layout/memory-map.ts";
import { DEFINE_COUNTED, DEFINE_SERVICE_LABEL_SHIFT } from "../../../../src/core/layout/row-frame.ts";
import { FLAG_BUCKET, FLAG_COUNTER } from "../../../../src/core/layout/stream-record.ts";
import type { StreamName } from "../../../../src/core/protocol/coordinator-frame.ts";
import { ShardKernel } from "../../../../src/domain/kernel/shard-kernel.ts";
import { partitionOf, serviceSeed } from "../../../../src/domain/placement/partition.ts";
import { QUERY_ONLY_COUNTER, queryOnlyName } from "../../../../src/domain/series/query-only-series.ts";
import { identityHead, identityText, serviceKey } from "../../../../src/domain/series/stream-identity.ts";
import { DefinitionRig } from "../../../support/definition-rig.ts";
import { bytesField, labelField, sampleField } from "../../../support/remote-write-body.ts";

type Labels = Array<[string, string]>;

const many = (count: number, pad = ""): Labels[] =>
  Array.from({ length: count }, (_, i) => [
    ["__name__", "m"],
    ["i", `${i}${pad}`],
    ["job", `j${i % 7}`],
  ]);

describe("the ingest kernel's definitions", () => {
  it("stop when the area is full and go on once the unit is committed, without losing or repeating one", () => {
    const rig = new DefinitionRig();
    const series = many(Math.ceil((2.5 * DEFINITIONS_BYTES) / 1000), "x".repeat(900));
    rig.begin(series);
    const refs: number[] = [];
    let full = 0;
    for (let status = -1; status !== STATUS_DONE; ) {
      status = rig.kernel.remoteWriteStep();
      expect([STATUS_DEFINITIONS_FULL, STATUS_DONE]).toContain(status);
      full += status === STATUS_DEFINITIONS_FULL ? 1 : 0;
      expect(rig.kernel.definitionsBytes()).toBeLessThanOrEqual(DEFINITIONS_BYTES);
      refs.push(...rig.definitions().map(({ ref }) => ref));
      rig.kernel.definitionsReset();
    }
    expect(full).toBe(2);
    expect(refs).toEqual(series.map((_, i) => 100 + i));
    expect(rig.kernel.stagedRows()).toBe(series.length);
  });

  it("hand out no more refs and new streams than they were given", () => {
    const rig = new DefinitionRig();
    rig.kernel.defineRefs(7, 3);
    expect(rig.kernel.defineAllow(2)).toBe(1_000_000);
    rig.begin(many(4));
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_ALLOWANCE_SPENT);
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_ALLOWANCE_SPENT);
    expect(rig.definitions().map(({ ref }) => ref)).toEqual([7, 8]);
    expect(rig.kernel.defineAllow(5)).toBe(0);
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_ALLOWANCE_SPENT);
    expect(rig.kernel.defineRefsLeft()).toBe(0);
    rig.kernel.remoteWriteResolve(50, 0, 0);
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_DONE);
    expect(rig.kernel.defineAllow(0)).toBe(4);
    expect(rig.definitions().map(({ ref }) => ref)).toEqual([7, 8, 9]);
  });

  it("ask for an allowance once the owner has been asked, not for ever", () => {
    const rig = new DefinitionRig({ engine: 0, engines: 2 });
    const away = many(20).filter((_, i) => partitionOf("default", `j${i % 7}`) % 2 === 1);
    rig.kernel.defineAllow(1);
    rig.begin(away.slice(0, 2));
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_ASK_OWNER);
    expect(rig.kernel.defineSettle(0)).toBe(STATUS_OK);
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_ASK_OWNER);
    expect(rig.kernel.defineSettle(0)).toBe(STATUS_ALLOWANCE_SPENT);
    rig.kernel.defineAllow(1);
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_ASK_OWNER);
    expect(rig.kernel.defineSettle(0)).toBe(STATUS_OK);
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_DONE);
  });

  it("count no stream that the shard holds, and need no allowance for it", () => {
    const rig = new DefinitionRig();
    const labels = many(1)[0] as Labels;
    const { hash, partition } = rig.expected(labels, 0);
    rig.loaded.bytes.set(hash, SCRATCH);
    rig.kernel.createSlot(SCRATCH, 3, partition, 0);
    rig.kernel.defineAllow(0);
    rig.begin([labels]);
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_DONE);
    expect((rig.definitions()[0]?.flags ?? 0) & DEFINE_COUNTED).toBe(0);
  });

  const base: Labels = [["__name__", "m"]];
  const limits: Array<[string, Labels]> = [
    ["a name that is too long", [...base, ["n".repeat(NAME_BYTES_MAX + 1), "v"]]],
    ["a value that is too long", [...base, ["n", "v".repeat(VALUE_BYTES_MAX + 1)]]],
    ["a metric name that is too long", [["__name__", "m".repeat(NAME_BYTES_MAX + 1)]]],
    ["too many labels", [...base, ...Array.from({ length: ATTRIBUTES_MAX + 1 }, (_, i): [string, string] => [`l${i}`, "v"])]],
    ["an identity that is too long", [...base, ["a", "v".repeat(VALUE_BYTES_MAX)], ["b", "v".repeat(VALUE_BYTES_MAX)]]],
    ["an empty metric name", [["__name__", ""]]],
    ["no metric name", [["job", "j"]]],
  ];
  it.each(limits)("leave %s to TypeScript", (_, labels) => {
    const rig = new DefinitionRig();
    rig.begin([labels]);
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_UNKNOWN_STREAM);
    expect(rig.definitions()).toEqual([]);
  });

  it("take what is just within the limits", () => {
    const rig = new DefinitionRig();
    const most: Labels = [...base, ...Array.from({ length: ATTRIBUTES_MAX }, (_, i): [string, string] => [`l${i}`, "v"])];
    const room = IDENTITY_BYTES_MAX - rig.expected([...base, ["a", "v".repeat(VALUE_BYTES_MAX)], ["b", "v"]], 0).identity.length + 1;
    const longest: Labels = [...base, ["a", "v".repeat(VALUE_BYTES_MAX)], ["b", "v".repeat(room)]];
    rig.begin([
      most,
      longest,
      [
        ["__name__", "m".repeat(NAME_BYTES_MAX)],
        ["n".repeat(NAME_BYTES_MAX), "v".repeat(VALUE_BYTES_MAX)],
      ],
    ]);
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_DONE);
    expect(rig.definitions().map(({ identity }) => identity.length)).toContain(IDENTITY_BYTES_MAX);
  });

  const odd: Array<[string, number[]]> = [
    ["the value before the name", [...bytesField(1, [...bytesField(2, [0x6d]), ...bytesField(1, Buffer.from("__name__"))])]],
    [
      "a name that is given twice",
      [...bytesField(1, [...bytesField(1, [0x78]), ...bytesField(1, Buffer.from("__name__")), ...bytesField(2, [0x6d])])],
    ],
    ["an unknown field between labels", [...labelField("__name__", "m"), ...bytesField(9, [1]), ...labelField("a", "b")]],
    [
      "a value that is not UTF-8",
      [...labelField("__name__", "m"), ...bytesField(1, [...bytesField(1, [0x61]), ...bytesField(2, [0xc0, 0x80])])],
    ],
  ];
  it.each(odd)("leave %s to TypeScript", (_, labels) => {
    const rig = new DefinitionRig();
    rig.beginBody(Uint8Array.from(bytesField(1, [...labels, ...sampleField({ value: 1, time: 1_795_220_000_000 })])));
    expect(rig.kernel.remoteWriteStep()).toBe(STATUS_UNKNOWN_STREAM);
  });
});

class RegistryRig {
  readonly ingest = new DefinitionRig();
  readonly memory = new EngineMemory(this.ingest.loaded.memory);
  readonly kernel = new ShardKernel({ window: 120 }, { kernel: this.ingest.kernel, buffer: this.ingest.loaded.memory.buffer });
  readonly uint32s = new ProcessSlots(new SharedArrayBuffer(PROCESS_LENGTH_BYTES));
  readonly restarted: number[] = [];
  readonly registry = new StreamRegistry(
    { engine: 0, engines: 1, blockBytes: 65536 },
    {
      memory: this.memory,
      kernel: this.kernel,
      processSlots: this.uint32s,
      counters: new EngineCounters(this.memory),
      cold: new ColdStreams(this.memory),
      services: new ServiceIndex(this.memory, this.ingest.kernel),
      adoptKind: (slot) => this.restarted.push(slot),
      created: () => undefined,
      changes: new StreamChanges(),
    },
  );

  /** Has an ingest define the stream, whether the shard holds it or not. */
  define(text: string, { ref = 1, tenant = 0, partition = 0, flags = 0, held = false } = {}): void {
    const { bytes, kernel } = { bytes: this.memory.slice(SCRATCH, 4096).write(text), kernel: this.ingest.kernel };
    expect(kernel.definePrepare(SCRATCH, bytes, tenant, partition, flags)).toBe(STATUS_OK);
    kernel.defineFinish(ref, held ? 1 : 0);
  }

  take(): void {
    this.registry.take(DEFINITIONS, this.ingest.kernel.definitionsBytes());
    this.ingest.kernel.definitionsReset();
  }
}

describe("the registry of streams", () => {
  it("makes slots for new streams and binds refs, with the identity and the flags that were defined", () => {
    const rig = new RegistryRig();
    rig.define("one", { ref: 5, tenant: 2, partition: 7, flags: FLAG_COUNTER });
    rig.define("two", { ref: 6, tenant: 2, partition: 9 });
    rig.define("one", { ref: 8, tenant: 2, partition: 7, flags: FLAG_COUNTER, held: true });
    rig.uint32s.addTenantStreams(2, 2);
    rig.take();
    const { records } = rig.kernel;
    expect([5, 6, 8].map((ref) => rig.kernel.slotOfRef(ref))).toEqual([0, 1, 0]);
    expect([records.flags(0), records.tenant(0), records.partition(0)]).toEqual([FLAG_COUNTER, 2, 7]);
    expect(rig.memory.slice(records.identityAddress(1), records.identityBytes(1)).toString()).toBe("two");
    expect([...rig.registry.partition(7).slots.uint32s]).toEqual([0]);
    expect([...rig.registry.partition(7).refs.uint32s]).toEqual([5, 0, 8, 0]);
    expect(rig.uint32s.tenantStreams(2)).toBe(2);
  });

  it("corrects what engines counted twice or not at all", () => {
    const rig = new RegistryRig();
    rig.define("one", { ref: 1 });
    rig.define("one", { ref: 2 });
    rig.define("two", { ref: 3, held: true });
    rig.define("three", { ref: 4 });
    rig.uint32s.addTenantStreams(0, 3);
    rig.take();
    expect([1, 2, 3, 4].map((ref) => rig.kernel.slotOfRef(ref))).toEqual([0, 0, 1, 2]);
    expect(rig.uint32s.tenantStreams(0)).toBe(3);
    expect(rig.kernel.slots).toBe(3);
  });

  it("starts a stream anew whose kind has changed", () => {
    const rig = new RegistryRig();
    rig.define("one", { ref: 1 });
    rig.define("one", { ref: 2, flags: FLAG_COUNTER, held: true });
    rig.take();
    expect(rig.restarted).toEqual([0]);
    expect(rig.kernel.slotOfRef(2)).toBe(0);
  });

  it("notes what named a stream's service, the newest that says so, also where the stream starts anew", () => {
    const rig = new RegistryRig();
    const labelled = (label: number, flags = 0) => flags | (label << DEFINE_SERVICE_LABEL_SHIFT);
    rig.define("one", { ref: 1 });
    rig.define("two", { ref: 2, flags: labelled(5) });
    rig.take();
    const { records } = rig.kernel;
    expect([0, 1].map((slot) => [records.flags(slot), records.serviceLabel(slot)])).toEqual([
      [0, 0],
      [0, 5],
    ]);
    rig.define("one", { ref: 3, flags: labelled(6), held: true });
    rig.define("two", { ref: 4, held: true });
    rig.take();
    expect([0, 1].map((slot) => records.serviceLabel(slot))).toEqual([6, 5]);
    records.restart(1, labelled(2, FLAG_COUNTER));
    expect([records.flags(1), records.serviceLabel(1)]).toEqual([FLAG_COUNTER, 2]);
    records.restart(1, 0);
    expect([records.flags(1), records.serviceLabel(1)]).toEqual([0, 2]);
  });

  it("replays definitions of an earlier log, those of its tenant in the kernel and others one by one", () => {
    const rig = new RegistryRig();
    const name = (tenant: string, i: number) => ({ tenant, environment: "", serviceId: `s"${i % 3}`, metricName: `m${i}`, attributes: {} });
    const plain = (i: number) => ({ ...name("default", i), serviceId: `s${i % 5}` });
    const names = Array.from({ length: 3000 }, (_, i) =>
      i % 100 === 99 ? name("other", i) : i % 10 === 9 ? name("default", i) : plain(i),
    );
    names.forEach((each, i) => {
      const partition = partitionOf(each.tenant, each.serviceId);
      rig.define(identityText(each), { ref: i, tenant: 9, partition, flags: i % 2 === 0 ? 0 : DEFINE_COUNTED });
    });
    const payload = rig.memory.bytes.slice(DEFINITIONS, DEFINITIONS + rig.ingest.kernel.definitionsBytes());
    rig.ingest.kernel.definitionsReset();
    const slots = new Map<number, number>();
    let left = 0;
    const tenant = { tenant: 4, headBytes: identityHead("default").length, serviceSeed: serviceSeed("default") };
    for (let round = 0; round < 2; round++) {
      rig.registry.replay(
        payload,
        () => tenant,
        (ref, slot) => slots.set(ref, slot),
        (definition) => {
          left++;
          slots.set(definition.ref, rig.registry.recover({ ...definition, tenant: 4 }));
        },
      );
      expect(left).toBe(300 * (round + 1));
      names.forEach((each, i) => {
        const { records } = rig.kernel;
        const slot = slots.get(i) as number;
        expect(rig.memory.slice(records.identityAddress(slot), records.identityBytes(slot)).toString()).toBe(identityText(each));
      });
      expect([rig.kernel.slots, rig.uint32s.tenantStreams(4), rig.kernel.slotOfRef(1)]).toEqual([3000, 3000, -1]);
    }
  });
});

describe("the index by service", () => {
  it("holds every stream under its tenant and service, however far it had caught up before", () => {
    const rig = new RegistryRig();
    const index = new ServiceIndex(rig.memory, rig.ingest.kernel);
    const services = ["a", 'q"uote', "back\\slash", "ä, ß", "", "a,", "]["];
    const expected = new Map<string, number[]>();
    for (let i = 0; i < 500; i++) {
      const tenant = i % 50 < 30 ? "default" : 't"2';
      const serviceId = services[Math.floor(i / 4) % services.length] as string;
      const environment = i % 3 === 0 ? 'e"' : "";
      rig.define(identityText({ tenant, environment, serviceId, metricName: `m${i}`, attributes: {} }), { ref: i });
      const key = serviceKey(tenant, serviceId);
      expected.set(key, [...(expected.get(key) ?? []), i]);
      if (i % 60 !== 59) continue;
      rig.take();
      index.catchUp(i % 120 === 59 ? 13 : 1);
    }
    rig.take();
    expect(index.behind).toBeGreaterThan(400);
    index.catchUp(Number.POSITIVE_INFINITY);
    expect(new Map(index.entries())).toEqual(expected);
    expect([index.catchUp(10), index.behind]).toEqual([false, 0]);
    const of = (key: string) => index.servicesOf(JSON.parse(key)[0]).get(key);
    for (const [key, slots] of expected) expect(of(key)).toEqual(slots);
    const streams = (tenant: string) => [...expected].filter(([key]) => JSON.parse(key)[0] === tenant).flatMap(([, slots]) => slots);
    for (const tenant of ["default", 't"2', "nobody"]) expect(index.streamsOf(tenant)).toBe(streams(tenant).length);
    index.remove([0, 1, 35]);
    expect([index.streamsOf("default"), index.streamsOf('t"2')]).toEqual([streams("default").length - 2, streams('t"2').length - 1]);
    index.again(1);
    expect(index.behind).toBe(1);
    index.catchUp(1);
    expect(index.streamsOf("default")).toBe(streams("default").length - 1);
    const [key, slots] = [...expected][1] as [string, number[]];
    index.remove(slots);
    expect(of(key)).toBe(undefined);
    for (const slot of slots) index.again(slot);
    index.catchUp(slots.length);
    expect(of(key)).toEqual(slots);
    expect(index.size).toBe(expected.size);
  });
});

it("streams for queries alone are in the index of services apart, and no buckets that are judged", () => {
  const rig = new RegistryRig();
  const index = new ServiceIndex(rig.memory, rig.ingest.kernel);
  const name = { tenant: "default", environment: "", serviceId: "a", metricName: "wait_bucket", attributes: { le: "1" } };
  const define = (ref: number, of: StreamName, flags: number) => rig.define(identityText(of), { ref, flags });
  define(1, queryOnlyName({ ...name, metricName: "wait" }, "_bucket", { le: "1" }), QUERY_ONLY_COUNTER);
  define(2, name, FLAG_COUNTER);
  define(3, queryOnlyName({ ...name, serviceId: "b" }, "", {}), QUERY_ONLY_COUNTER);
  rig.take();
  index.catchUp(Number.POSITIVE_INFINITY);
  const { records } = rig.kernel;
  expect([0, 1, 2].map((slot) => records.flags(slot) & FLAG_BUCKET)).toEqual([0, FLAG_BUCKET, 0]);
  const [a, b] = [serviceKey("default", "a"), serviceKey("default", "b")];
  const found = () => [[...index.servicesOf("default")], [...index.queryOnlyOf("default")], index.streamsOf("default")];
  expect(found()).toEqual([
    [[a, [1]]],
    [
      [a, [0]],
      [b, [2]],
    ],
    3,
  ]);
  index.remove([1]);
  expect(found()).toEqual([
    [],
    [
      [a, [0]],
      [b, [2]],
    ],
    2,
  ]);
  index.again(1);
  index.remove([0, 2]);
  expect(found()).toEqual([[[a, [1]]], [], 1]);
});

it("a definition is read back as it was written", () => {
  const rig = new RegistryRig();
  rig.define("text", { ref: 3, tenant: 1, partition: 2, flags: 5 });
  const { ref, tenant, partition, flags, identity } = decodeDefinition(rig.memory.view, DEFINITIONS);
  expect({ ref, tenant, partition, flags }).toEqual({ ref: 3, tenant: 1, partition: 2, flags: 5 | DEFINE_COUNTED });
  expect(Buffer.from(identity).toString()).toBe("text");
});
