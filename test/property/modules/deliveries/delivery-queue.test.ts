// The queue of deliveries against a slow twin: a list of what waits in the order in which it came, and a map of what is handed over.
import fc from "fast-check";
import { expect, it } from "vitest";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";
import { KeyBuilder } from "../../../../src/domain/codec/key.ts";
import { keyText } from "../../../../src/modules/deliveries/delivery-key.ts";
import type { DeliveryKind } from "../../../../src/modules/deliveries/delivery-kind.ts";
import { DeliveryQueue } from "../../../../src/modules/deliveries/delivery-queue.ts";

const TENANTS = ["acme", "blue"];
const KEYS = TENANTS.flatMap((tenant) => ["1", "2", "3", "4"].map((id) => keyText(new KeyBuilder().text(tenant).text(id).finish())));
const LANES = ["a", "b"];
const ACTIONS = ["add", "add", "add", "remove", "hand", "hand", "release", "return receiver", "return all", "clear", "served"] as const;
const ACTION = fc.record({ kind: fc.constantFrom(...ACTIONS), receiver: fc.nat(1), key: fc.nat(KEYS.length - 1), isUrgent: fc.boolean() });

interface Twin {
  waiting: Array<{ readonly key: string; readonly receiver: string; readonly isUrgent: boolean }>;
  readonly handed: Map<string, { readonly receiver: string; readonly isUrgent: boolean }>;
}

/** A key stands in one receiver. */
const receiverOf = (key: string) => LANES[KEYS.indexOf(key) % LANES.length] as string;

function firstOf({ waiting }: Twin, receiver: string) {
  const own = waiting.filter((one) => one.receiver === receiver);
  const first = own.find(({ isUrgent }) => isUrgent) ?? own[0];
  return first && { key: first.key, isUrgent: first.isUrgent };
}

function twinAdds(twin: Twin, key: string, isUrgent: boolean): void {
  const known = twin.waiting.find((one) => one.key === key);
  if (twin.handed.has(key) || known?.isUrgent === isUrgent) return;
  twin.waiting = [...twin.waiting.filter((one) => one.key !== key), { key, receiver: receiverOf(key), isUrgent }];
}

it("what waits leaves once, urgent first and in its order, and each place is given back", () => {
  fc.assert(
    fc.property(fc.array(ACTION, { maxLength: 60 }), (actions) => {
      const places = ShareLedger.alone();
      const kind = { places } as DeliveryKind;
      const queue = new DeliveryQueue();
      const twin: Twin = { waiting: [], handed: new Map() };
      let serial = 0;
      const takeBack = (receiver?: string) => {
        for (const [key, position] of [...twin.handed]) {
          if (receiver !== undefined && position.receiver !== receiver) continue;
          twin.handed.delete(key);
          twinAdds(twin, key, position.isUrgent);
        }
      };
      for (const action of actions) {
        const key = KEYS[action.key] as string;
        const receiver = LANES[action.receiver] as string;
        if (action.kind === "add") {
          queue.add(key, { kind, receiver: receiverOf(key), isUrgent: action.isUrgent });
          twinAdds(twin, key, action.isUrgent);
        } else if (action.kind === "remove") {
          queue.remove(key, receiverOf(key));
          twin.waiting = twin.waiting.filter((one) => one.key !== key);
        } else if (action.kind === "hand") {
          const first = queue.first(receiver);
          if (first === undefined) continue;
          queue.hand(first.key, { kind, receiver, isUrgent: first.isUrgent }, ++serial);
          twin.waiting = twin.waiting.filter((one) => one.key !== first.key);
          twin.handed.set(first.key, { receiver, isUrgent: first.isUrgent });
          expect(queue.handed(first.key)?.serial).toBe(serial);
        } else if (action.kind === "release") {
          queue.release(key);
          twin.handed.delete(key);
        } else if (action.kind === "clear") {
          queue.clear(receiver);
          twin.waiting = twin.waiting.filter((one) => one.receiver !== receiver);
        } else if (action.kind === "served") queue.served(receiver);
        else {
          const back = action.kind === "return receiver" ? receiver : undefined;
          queue.giveBack(queue.allHanded(back));
          takeBack(back);
        }
        for (const name of LANES) {
          expect(queue.first(name)).toEqual(firstOf(twin, name));
          expect(queue.handedOf(name)).toBe([...twin.handed.values()].filter((position) => position.receiver === name).length);
        }
        expect(queue.size(kind)).toBe(twin.waiting.length + twin.handed.size);
        expect(places.taken).toBe(twin.handed.size);
        const receivers = LANES.filter((name) => twin.waiting.some((one) => one.receiver === name));
        expect(new Set(queue.waitingReceivers().map(({ name }) => name))).toEqual(new Set(receivers));
      }
    }),
  );
});
