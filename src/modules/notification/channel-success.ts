// When each destination of a tenant took something last, as it is stored: table `channel_successes`. A row is stored with the outcome that it follows from.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { KeyBuilder, KeyReader } from "../../domain/codec/key.ts";
import { NOTIFIERS } from "../../domain/notification/channel.ts";
import { type Destination, destinationKey } from "../../domain/notification/destinations.ts";
import { wordOf } from "../deliveries/delivery-form.ts";
import { stored } from "../state/generated/stored-rows.ts";
import { scan } from "../state/scan.ts";
import { checkRowVersion } from "../state/stored-json.ts";
import { type MessageCodec, readStoredMessage, storedMessage, storedText } from "../state/stored-message.ts";
import { idBytes } from "../state/tables.ts";

const TABLE = "channel_successes";
const VERSION = 1;
const SUCCESS: MessageCodec = stored.ChannelSuccess;

/** A destination that has taken something, and when. */
export interface ChannelSuccess {
  readonly tenant: string;
  readonly destination: Destination;
  readonly atMs: number;
}

export function successOperation({ tenant, destination, atMs }: ChannelSuccess): StoreOperation {
  const message = { ...destination, tenant: storedText(destination.tenant), target: storedText(destination.target) };
  const value = storedMessage(VERSION, SUCCESS.encode({ destination: message, atMs }).finish());
  return { ...successRemoval({ tenant, destination }), value };
}

export function successRemoval({ tenant, destination }: Pick<ChannelSuccess, "tenant" | "destination">): StoreOperation {
  const hash = hash128(destinationKey(destination));
  const key = new KeyBuilder().text(tenant).fixed(idBytes(hash)).finish();
  return { table: TABLE, key, value: undefined };
}

/** All that is stored, the oldest first. */
export function storedSuccesses(control: KeyValueStore): ChannelSuccess[] {
  const rows = [...scan(control, TABLE)].map(({ key, value }) => ({ tenant: new KeyReader(key).text(), ...read(value) }));
  return rows.sort((a, b) => a.atMs - b.atMs);
}

function read(value: Uint8Array): Omit<ChannelSuccess, "tenant"> {
  checkRowVersion(TABLE, value, VERSION);
  return readStoredMessage(SUCCESS, value, "a stored success of a channel is damaged", ({ destination, atMs }) => {
    const { notifier, tenant, target } = destination;
    return { destination: { notifier: wordOf(NOTIFIERS, notifier), tenant, target }, atMs };
  });
}
