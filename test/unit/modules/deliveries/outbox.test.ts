// The outbox over kinds that a test makes: what leaves first, and what is stored before it leaves.
import { describe, expect, it } from "vitest";
import { DELIVERIES_HANDED_PER_STEP } from "../../../../src/core/config/notification-limits.ts";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";
import { KeyBuilder } from "../../../../src/domain/codec/key.ts";
import type { DeliveryReport, HandedDelivery } from "../../../../src/domain/webhooks/outbound-messages.ts";
import { keyText } from "../../../../src/modules/deliveries/delivery-key.ts";
import type { DeliveryKind } from "../../../../src/modules/deliveries/delivery-kind.ts";
import { Outbox } from "../../../../src/modules/deliveries/outbox.ts";
import { MemoryStore } from "../../../support/memory-store.ts";

const REQUEST = { url: "https://a.example/", method: "POST", headers: {}, body: null, timeoutMs: 1 } as const;
const keyOf = (id: string) => keyText(new KeyBuilder().text("acme").text(id).finish());

/** A kind that stores a row for what it begins, and keeps what it is told. */
function kindOf(outbox: Outbox, name: DeliveryKind["name"], isStoredFirst: boolean) {
  const reports: DeliveryReport[] = [];
  const kind: DeliveryKind = {
    name,
    isStoredFirst,
    places: ShareLedger.alone(),
    handedMost: () => 1_000,
    mayLeave: () => true,
    leaving: (key) => [{ key, tenant: "acme", dueAtMs: 0, rank: 0, joins: null, joined: null, kind: "step", request: REQUEST }],
    work: (own, beginning) => {
      reports.push(...own);
      const ended = own.flatMap((report) => (report.kind === "attempted" ? report.deliveries : []));
      return {
        operations: () =>
          beginning.map((key) => ({ table: "rows", key: new Uint8Array(Buffer.from(key, "hex")), value: Uint8Array.of(1) })),
        apply: () => {
          for (const { key } of ended) outbox.queue.release(key);
        },
        undone: () => undefined,
      };
    },
  };
  outbox.register(kind);
  const add = (id: string, isUrgent = false, receiver: string = name) => outbox.queue.add(keyOf(id), { kind, receiver, isUrgent });
  return { kind, reports, add };
}

function open() {
  const control = new MemoryStore({ tables: ["rows"] });
  const sent: Array<HandedDelivery & { readonly rows: number }> = [];
  const rows = () => control.contents.get("rows")?.size ?? 0;
  const link = {
    send: (command: { type: string; deliveries?: readonly HandedDelivery[] }) => {
      for (const delivery of command.deliveries ?? []) sent.push({ ...delivery, rows: rows() });
    },
  };
  const outbox = new Outbox({
    control,
    nowMs: () => 1_000,
    randomBytes: (count) => new Uint8Array(count),
    edit: (work) => work(),
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
  });
  return { outbox, control, sent, link, rows };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("what leaves", () => {
  it("is what is urgent first, however much else waits before it", async () => {
    const { outbox, sent, link } = open();
    const { add } = kindOf(outbox, "step", false);
    for (let one = 0; one < DELIVERIES_HANDED_PER_STEP + 50; one++) add(`event ${one}`, false, "events");
    add("page", true, "pages");
    outbox.connect(link);
    await settled();
    expect(sent[0]?.key).toBe(keyOf("page"));
    expect(sent).toHaveLength(DELIVERIES_HANDED_PER_STEP + 51);
  });
});

describe("what is stored first", () => {
  it("leaves once it is stored as begun, and not where nothing can be stored", async () => {
    const { outbox, control, sent, link, rows } = open();
    const { add } = kindOf(outbox, "step", true);
    control.failNext("ENOSPC");
    control.failNext("ENOSPC");
    add("a");
    outbox.connect(link);
    await expect.poll(() => sent.length).toBe(1);
    expect([sent[0]?.rows, rows()]).toEqual([1, 1]);
  });

  it("is reported as lost where the notifier ends, and is not sent again unasked", async () => {
    const { outbox, sent, link } = open();
    const { add, kind, reports } = kindOf(outbox, "step", true);
    add("a");
    outbox.connect(link);
    await expect.poll(() => sent.length).toBe(1);
    outbox.disconnect();
    await expect.poll(() => reports.length).toBe(1);
    expect(reports[0]).toMatchObject({ kind: "attempted", outcome: { kind: "retry", mayHaveArrived: true } });
    outbox.connect(link);
    await settled();
    expect([sent.length, outbox.queue.size(kind), kind.places.taken]).toEqual([1, 0, 0]);
  });
});
