// The descriptor of a body, 64 bytes in a ring of DESCRIPTOR_COUNT in the engine's memory: the front writes it, the engine reads it.
import { DESCRIPTOR_BYTES, DESCRIPTOR_COUNT, DESCRIPTORS } from "./memory-map.ts";

const POINTER = 0;
const BODY_BYTES = 4;
const KIND = 8;
const TENANT = 12;
const KEY_BYTES = 16;
const ANONYMOUS = 20;
const ADMISSION = 24;
const ARRIVAL = 32;
const WALL = 40;
const SENDER = 48;

/** Fields of a body that the front writes. */
export interface BodyDescriptor {
  /** Place of its first byte in the engine's memory. */
  readonly pointer: number;
  readonly bytes: number;
  /** BODY_* of core/protocol/body-kind.ts. */
  readonly kind: number;
  readonly tenant: number;
  /** Bytes of the Idempotency-Key, which lies behind the body's padding; 0 = none. */
  readonly keyBytes: number;
  /** The request had no credential. */
  readonly isAnonymous: boolean;
  readonly admission: number;
  /** Monotonic milliseconds at which the last byte of the body had arrived. */
  readonly arrivalMs: number;
  /** Wall clock milliseconds of the same moment. */
  readonly wallMs: number;
  /** Number of who sent it (front/ingestion.ts); 0 where nobody asks. */
  readonly sender: number;
}

/** Writes the descriptor at a position, which counts on: the ring has the last DESCRIPTOR_COUNT. */
export function writeDescriptor(view: DataView, position: number, descriptor: BodyDescriptor): void {
  const at = descriptorIndex(position);
  view.setUint32(at + POINTER, descriptor.pointer, true);
  view.setUint32(at + BODY_BYTES, descriptor.bytes, true);
  view.setUint32(at + KIND, descriptor.kind, true);
  view.setUint32(at + TENANT, descriptor.tenant, true);
  view.setUint32(at + KEY_BYTES, descriptor.keyBytes, true);
  view.setUint32(at + ANONYMOUS, descriptor.isAnonymous ? 1 : 0, true);
  view.setFloat64(at + ADMISSION, descriptor.admission, true);
  view.setFloat64(at + ARRIVAL, descriptor.arrivalMs, true);
  view.setFloat64(at + WALL, descriptor.wallMs, true);
  view.setUint32(at + SENDER, descriptor.sender, true);
}

export function readDescriptor(view: DataView, position: number): BodyDescriptor {
  const at = descriptorIndex(position);
  return {
    pointer: view.getUint32(at + POINTER, true),
    bytes: view.getUint32(at + BODY_BYTES, true),
    kind: view.getUint32(at + KIND, true),
    tenant: view.getUint32(at + TENANT, true),
    keyBytes: view.getUint32(at + KEY_BYTES, true),
    isAnonymous: view.getUint32(at + ANONYMOUS, true) === 1,
    admission: view.getFloat64(at + ADMISSION, true),
    arrivalMs: view.getFloat64(at + ARRIVAL, true),
    wallMs: view.getFloat64(at + WALL, true),
    sender: view.getUint32(at + SENDER, true),
  };
}

function descriptorIndex(position: number): number {
  return DESCRIPTORS + (position % DESCRIPTOR_COUNT) * DESCRIPTOR_BYTES;
}
