// Inflates bodies of gzip, and of zstd where Node can (22.15, 23.8 and newer): in the thread pool, so many at a time, in pieces, none of which the main thread copies or joins. Tenants take turns; a body that grows
// beyond what telemetry does is given up on the way.
import * as zlib from "node:zlib";
import {
  INFLATED_RATIO_BYTES_FREE,
  INFLATED_RATIO_MAX,
  INFLATING_BYTES_MAX,
  INFLATING_MAX,
  INFLATING_PER_TENANT_MAX,
  INFLATION_BYTES_WAITING_MAX,
  INFLATIONS_WAITING_MAX,
  ZSTD_BLOCKS_MAX,
  ZSTD_RATIO_MAX,
  ZSTD_WINDOW_LOG_MAX,
} from "../../core/config/body-limits.ts";
import { SMALL_BODY_BYTES_MAX } from "../../core/config/limits.ts";
import { type Home, listen } from "../../core/faults/guard.ts";
import { zstdFrameBytes } from "../../domain/codec/zstd-frame.ts";

/** Output of one round in the thread pool. */
const PIECE_BYTES = 64 * 1024;
const NOT_ONE_FRAME = "it must be one whole frame";

export type Coding = "gzip" | "zstd";

/** Outcome for a body, one piece where it is small, or why it is refused. */
export type Inflated =
  | { readonly ok: true; readonly pieces: readonly Uint8Array[] }
  | { readonly ok: false; readonly reason: "too_large" | "not_encoded"; readonly message: string };

/** A body to inflate: `bytesMax` bytes of it at most. */
export interface CompressedBody {
  readonly bytes: Uint8Array;
  readonly coding: Coding;
  readonly tenant: number;
  readonly bytesMax: number;
}

interface Inflation extends CompressedBody {
  readonly done: (result: Inflated) => void;
}

type MakeInflater = (options: { chunkSize: number; params: Record<number, number> }) => zlib.Gunzip;
/** Members of Node 22.15 and newer; the types are those of Node 20. */
const { createZstdDecompress, constants } = zlib as unknown as {
  createZstdDecompress?: MakeInflater;
  constants: { ZSTD_d_windowLogMax: number };
};

/** Whether this Node inflates zstd. */
export const HAS_ZSTD = createZstdDecompress !== undefined;

function inflaterOf(coding: Coding): zlib.Gunzip {
  return coding === "gzip"
    ? zlib.createGunzip({ chunkSize: PIECE_BYTES })
    : (createZstdDecompress as MakeInflater)({
        chunkSize: PIECE_BYTES,
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      });
}

/** Usage of one tenant. */
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
  #bufferedBytes = 0;

  /** Bodies that are being inflated or wait for it. */
  get count(): number {
    return this.#count;
  }

  /** Takes a body, which is copied, and calls back once; false when this tenant, or all, have too much waiting. zstd only where HAS_ZSTD. */
  take(body: CompressedBody, done: (result: Inflated) => void): boolean {
    const { bytes, tenant } = body;
    const share = this.#shares.get(tenant) ?? { waiting: [], active: 0, bytes: 0 };
    const all = this.#bytes + bytes.byteLength;
    if (this.#count >= INFLATIONS_WAITING_MAX || all > INFLATION_BYTES_WAITING_MAX) return false;
    const own = share.waiting.length + share.active;
    if (own >= INFLATIONS_WAITING_MAX / 2 || share.bytes + bytes.byteLength > INFLATION_BYTES_WAITING_MAX / 2) return false;
    this.#shares.set(tenant, share);
    share.waiting.push({ ...body, bytes: Buffer.from(bytes), done });
    share.bytes += bytes.byteLength;
    this.#count++;
    this.#bytes = all;
    this.#startNext();
    return true;
  }

  /** Starts what may run now: of the tenants that wait, each in its turn. */
  #startNext(): void {
    for (const [tenant, share] of this.#shares) {
      if (this.#active >= INFLATING_MAX || this.#bufferedBytes > INFLATING_BYTES_MAX) return;
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
    const { bytes: sent, coding } = inflation;
    const inflater = inflaterOf(coding);
    const pieces: Buffer[] = [];
    let inflated = 0;
    let isOver = false;
    const end = (result: Inflated) => {
      if (isOver) return;
      isOver = true;
      inflater.destroy();
      this.#bufferedBytes -= inflated;
      this.#leave(inflation, share);
      inflation.done(result);
    };
    const home: Home = {
      where: "request",
      name: "the inflation of a body",
      answer: () =>
        end({ ok: false, reason: "not_encoded", message: "the server failed to inflate the body; send it without compression" }),
    };
    listen(inflater, "data", home, (piece: Buffer) => {
      if (isOver) return;
      inflated += piece.byteLength;
      this.#bufferedBytes += piece.byteLength;
      pieces.push(piece);
      const message = growthProblem(inflation, inflated);
      if (message !== undefined) end({ ok: false, reason: "too_large", message });
    });
    listen(inflater, "end", home, () =>
      end({ ok: true, pieces: inflated <= SMALL_BODY_BYTES_MAX ? [Buffer.concat(pieces, inflated)] : pieces }),
    );
    listen(inflater, "error", home, (error: Error) => {
      end({ ok: false, reason: "not_encoded", message: `the body is not ${coding}, although Content-Encoding says so: ${error.message}` });
    });
    if (coding === "zstd" && zstdFrameBytes(sent, ZSTD_BLOCKS_MAX) !== sent.byteLength) inflater.destroy(new Error(NOT_ONE_FRAME));
    else inflater.end(sent);
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

/** Error of a body that has grown so far. */
function growthProblem({ bytes, bytesMax, coding }: Inflation, inflated: number): string | undefined {
  const sent = bytes.byteLength;
  const ratioMax = coding === "zstd" ? ZSTD_RATIO_MAX : INFLATED_RATIO_MAX;
  if (inflated > bytesMax) return `the body inflates to more than ${bytesMax} bytes; send smaller requests`;
  if (inflated <= INFLATED_RATIO_BYTES_FREE || inflated <= sent * ratioMax) return undefined;
  return `the body inflates to more than ${ratioMax} times the ${sent} bytes that were sent, which telemetry does not; send it without compression`;
}
