// Inflates gzip bodies: in the thread pool, so many at a time, in pieces, none of which the main thread copies or joins. Tenants take turns; a body that grows
// beyond what telemetry does is given up on the way.
import { createGunzip } from "node:zlib";
import {
  INFLATED_RATIO_BYTES_FREE,
  INFLATED_RATIO_MAX,
  INFLATING_BYTES_MAX,
  INFLATING_MAX,
  INFLATING_PER_TENANT_MAX,
  INFLATION_BYTES_WAITING_MAX,
  INFLATIONS_WAITING_MAX,
} from "../../core/config/body-limits.ts";
import { SMALL_BODY_BYTES_MAX } from "../../core/config/limits.ts";

/** Output of one round in the thread pool. */
const PIECE_BYTES = 64 * 1024;

/** What became of a body, one piece where it is small, or why it is refused. */
export type Inflated =
  | { readonly ok: true; readonly pieces: readonly Uint8Array[] }
  | { readonly ok: false; readonly reason: "too_large" | "no_gzip"; readonly message: string };

/** A body to inflate. */
interface Inflation {
  readonly bytes: Buffer;
  readonly tenant: number;
  readonly bytesMax: number;
  readonly done: (result: Inflated) => void;
}

/** What one tenant has here. */
interface TenantShare {
  readonly waiting: Inflation[];
  active: number;
  bytes: number;
}

/** All inflations of the process. */
export class Inflations {
  /** By tenant, the one whose turn is next first. */
  readonly #shares = new Map<number, TenantShare>();
  #active = 0;
  #count = 0;
  #bytes = 0;
  /** Pieces that running inflations hold. */
  #heldBytes = 0;

  /** Bodies that are being inflated or wait for it. */
  get count(): number {
    return this.#count;
  }

  /** Takes a body, which is copied, and calls back once; false when this tenant, or all, have too much waiting. */
  take(bytes: Uint8Array, tenant: number, bytesMax: number, done: (result: Inflated) => void): boolean {
    const share = this.#shares.get(tenant) ?? { waiting: [], active: 0, bytes: 0 };
    const all = this.#bytes + bytes.byteLength;
    if (this.#count >= INFLATIONS_WAITING_MAX || all > INFLATION_BYTES_WAITING_MAX) return false;
    const own = share.waiting.length + share.active;
    if (own >= INFLATIONS_WAITING_MAX / 2 || share.bytes + bytes.byteLength > INFLATION_BYTES_WAITING_MAX / 2) return false;
    this.#shares.set(tenant, share);
    share.waiting.push({ bytes: Buffer.from(bytes), tenant, bytesMax, done });
    share.bytes += bytes.byteLength;
    this.#count++;
    this.#bytes = all;
    this.#startNext();
    return true;
  }

  /** Starts what may run now: of the tenants that wait, each in its turn. */
  #startNext(): void {
    for (const [tenant, share] of this.#shares) {
      if (this.#active >= INFLATING_MAX || this.#heldBytes > INFLATING_BYTES_MAX) return;
      if (share.active >= INFLATING_PER_TENANT_MAX) continue;
      const next = share.waiting.shift();
      if (next === undefined) continue;
      share.active++;
      this.#active++;
      this.#shares.delete(tenant);
      this.#shares.set(tenant, share);
      this.#run(next, share);
    }
  }

  #run(inflation: Inflation, share: TenantShare): void {
    const { bytes: sent, bytesMax } = inflation;
    const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
    const pieces: Buffer[] = [];
    let inflated = 0;
    let isOver = false;
    const end = (result: Inflated) => {
      if (isOver) return;
      isOver = true;
      gunzip.destroy();
      this.#heldBytes -= inflated;
      this.#leave(inflation, share);
      inflation.done(result);
    };
    gunzip.on("data", (piece: Buffer) => {
      if (isOver) return;
      inflated += piece.byteLength;
      this.#heldBytes += piece.byteLength;
      pieces.push(piece);
      const message = growthProblem(sent.byteLength, inflated, bytesMax);
      if (message !== undefined) end({ ok: false, reason: "too_large", message });
    });
    gunzip.on("end", () => end({ ok: true, pieces: inflated <= SMALL_BODY_BYTES_MAX ? [Buffer.concat(pieces, inflated)] : pieces }));
    gunzip.on("error", (error) => {
      end({ ok: false, reason: "no_gzip", message: `the body is not gzip, although Content-Encoding says so: ${error.message}` });
    });
    gunzip.end(sent);
  }

  #leave({ bytes, tenant }: Inflation, share: TenantShare): void {
    share.active--;
    share.bytes -= bytes.byteLength;
    this.#active--;
    this.#count--;
    this.#bytes -= bytes.byteLength;
    if (share.active === 0 && share.waiting.length === 0) this.#shares.delete(tenant);
    this.#startNext();
  }
}

/** What is wrong with a body that has grown so far. */
function growthProblem(sent: number, inflated: number, bytesMax: number): string | undefined {
  if (inflated > bytesMax) return `the body inflates to more than ${bytesMax} bytes; send smaller requests`;
  if (inflated <= INFLATED_RATIO_BYTES_FREE || inflated <= sent * INFLATED_RATIO_MAX) return undefined;
  return `the body inflates to more than ${INFLATED_RATIO_MAX} times the ${sent} bytes that were sent, which telemetry does not; send it without compression`;
}
