/**
 * Memory of bodies that have begun to come and are not whole, on all ports together: 512 MiB, which nobody may fill for others. Tenants have shares of it by a
 * ledger. Within what is open to a tenant each address of its senders holds no more than it leaves free for others, and each body no more than is then open to
 * its address: one address gets half, a second a third of the rest, and the larger a body is, the sooner it is refused, so that small ones always find room.
 * A body that comes in one piece is never counted, since it is handed over in the turn in which it comes; nor are the first 16 KiB of one that begins small,
 * which connections bound: 160 MiB.
 */

import { BODY_BYTES_ARRIVING_MAX } from "../../core/config/body-limits.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";

/** Who sends a body; the address is asked for only when something is counted. */
export interface BodySender {
  readonly remoteAddress: string;
}

/** Bytes of one body, of which `take` has said yes. */
export class BodyAccount {
  readonly #shares: BodyShares;
  readonly #tenant: string;
  readonly #sender: BodySender;
  #address: string | undefined;
  #bytes = 0;

  constructor(shares: BodyShares, tenant: string, sender: BodySender) {
    this.#shares = shares;
    this.#tenant = tenant;
    this.#sender = sender;
  }

  /** Takes bytes if there is room for them. */
  take(bytes: number): boolean {
    const tenant = this.#tenant;
    this.#address ??= sourceOf(tenant, this.#sender.remoteAddress);
    if (!this.#shares.take({ tenant, address: this.#address, bodyBytes: this.#bytes }, bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Gives all bytes back. */
  end(): void {
    if (this.#address !== undefined) this.#shares.give(this.#tenant, this.#address, this.#bytes);
    this.#bytes = 0;
  }
}

/** All bodies that are not whole yet. */
export class BodyShares {
  readonly #ledger: ShareLedger;
  /** Bytes that are held, by tenant and address. As many as bodies at most. */
  readonly #addresses = new Map<string, number>();

  constructor(ledger: ShareLedger) {
    this.#ledger = ledger;
  }

  /** For a server without others beside it. */
  static alone(bytesMax = BODY_BYTES_ARRIVING_MAX): BodyShares {
    return new BodyShares(ShareLedger.alone(bytesMax));
  }

  /** Bytes in use. */
  get taken(): number {
    return this.#ledger.taken;
  }

  /** Opens the account of one body; `tenant` is empty where nobody knows. */
  open(tenant: string, sender: BodySender): BodyAccount {
    return new BodyAccount(this, tenant, sender);
  }

  /** Takes bytes for a body that has some already; false where that would leave others too little, which is counted. */
  take({ tenant, address, bodyBytes }: { tenant: string; address: string; bodyBytes: number }, bytes: number): boolean {
    const used = this.#addresses.get(address) ?? 0;
    // What the address may take leaves as much again as it then holds, so each byte costs two of this.
    const open = this.#ledger.available(tenant) - used;
    if (2 * bytes > open || bodyBytes + bytes > open) {
      this.#ledger.refuse(tenant, bytes);
      return false;
    }
    this.#ledger.add(tenant, bytes);
    this.#addresses.set(address, used + bytes);
    return true;
  }

  give(tenant: string, address: string, bytes: number): void {
    if (bytes === 0) return;
    this.#ledger.give(tenant, bytes);
    const left = (this.#addresses.get(address) ?? 0) - bytes;
    if (left > 0) this.#addresses.set(address, left);
    else this.#addresses.delete(address);
  }
}

/** A tenant with an address; of IPv6 the network of 64 bits, all of which one sender may have. */
function sourceOf(tenant: string, address: string): string {
  return JSON.stringify([tenant, address.includes(":") ? networkOf(address) : address]);
}

function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === undefined || tail === "" ? [] : tail.split(":");
  while (tail !== undefined && groups.length + behind.length < 8) groups.push("0");
  return [...groups, ...behind].slice(0, 4).join(":");
}
