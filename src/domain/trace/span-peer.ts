// Whom a client's or producer's span calls, by its attributes: what a call names that sends no spans itself. A database and a broker have a name however it is
// spelled, a bare word or an address; so has whatever `peer.service` names. An address without either may be any service's: only a host outside has a name by it.
// What a name that a caller gives to whom it calls says: an address, a name inside the network, a host outside.
import { type AttributeMap, readAttributeBytes } from "../otlp/protobuf-attributes.ts";

const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[?[\da-f]*:[\d.:a-f]*\]?)$/i;
const INSIDE = /^(?:localhost|[^.]+)$|\.(?:local|internal|lan|svc|cluster\.local|localdomain)$/i;
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/i;
const PORT = /:\d{1,5}$/;

/** Attributes that name the product that is called, as OpenTelemetry has named them, newest first. */
const SYSTEM_KEYS = ["db.system.name", "db.system", "messaging.system"] as const;
const SERVICE_KEYS = ["peer.service"] as const;
const ADDRESS_KEYS = ["server.address", "net.peer.name"] as const;
const KEYS = [...SYSTEM_KEYS, ...SERVICE_KEYS, ...ADDRESS_KEYS] as const;
type PeerKey = (typeof KEYS)[number];
const KEY_BYTES = KEYS.map((key) => Buffer.from(key));
/** A host's name has at most so many. */
const NAME_CHARACTERS_MAX = 255;
/** Tag of the key in a KeyValue message. */
const KEY_TAG = 0x0a;
export const KIND_CLIENT = 3;
const KIND_PRODUCER = 4;

/** An attribute that says something of whom a span calls. */
export interface PeerPart {
  readonly key: PeerKey;
  /** "" where it is no text. */
  readonly value: string;
}

/** Whether spans of a kind call somebody. */
export function callsOut(kind: number): boolean {
  return kind === KIND_CLIENT || kind === KIND_PRODUCER;
}

/** The part in the bytes of a KeyValue; undefined where it is another attribute. */
export function peerPartOf(bytes: Uint8Array): PeerPart | undefined {
  const at = KEY_BYTES.findIndex((key) => bytes[0] === KEY_TAG && bytes[1] === key.length && key.equals(bytes.subarray(2, 2 + key.length)));
  if (at < 0) return undefined;
  const attributes: AttributeMap = {};
  const key = KEYS[at]!;
  const value = readAttributeBytes(bytes, attributes) ? attributes[key] : undefined;
  return { key, value: typeof value === "string" ? value : "" };
}

/** Name of whom a span with these attributes calls; "" where they name nobody. */
export function peerOfAttributes(attributes: Readonly<Record<string, unknown>>): string {
  const parts = KEYS.flatMap((key): PeerPart[] => {
    const value = attributes[key];
    return typeof value === "string" && value !== "" ? [{ key, value }] : [];
  });
  return parts.length === 0 ? "" : peerOfParts(parts);
}

/** The same from parts, in any order; of one key the last counts. */
export function peerOfParts(parts: readonly PeerPart[]): string {
  const lastOf = (wanted: PeerKey) => parts.findLast(({ key }) => key === wanted)?.value ?? "";
  const firstOf = (keys: readonly PeerKey[]) => keys.map(lastOf).find((value) => value !== "");
  const name = nameOf(firstOf(SYSTEM_KEYS), firstOf(SERVICE_KEYS), firstOf(ADDRESS_KEYS));
  return name.length <= NAME_CHARACTERS_MAX ? name : "";
}

function nameOf(system: string | undefined, service: string | undefined, address: string | undefined): string {
  if (service !== undefined) return service;
  const host = address === undefined ? "" : withoutPort(address);
  if (system !== undefined) return host === "" || isLoopback(host) ? system : host;
  return host === "" || isAddress(host) || isInside(host) ? "" : host;
}

/** A name without its port; a bare IPv6 address stays whole. */
export function withoutPort(name: string): string {
  const hasPort = name.indexOf(":") === name.lastIndexOf(":") || name.includes("]:");
  return hasPort ? name.replace(PORT, "") : name;
}

/** The host of a name, to be compared. */
export function hostOf(name: string): string {
  return withoutPort(name).toLowerCase();
}

export function isAddress(host: string): boolean {
  return ADDRESS.test(host);
}

/** Whether a host is a bare word or of a zone that no public name has. */
export function isInside(host: string): boolean {
  return INSIDE.test(host);
}

/** Whether a host is the caller's own: every caller has one of that name. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
