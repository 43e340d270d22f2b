// A credential that was found genuine: a request with one of them costs one look-up.
import type { Principal } from "../../../core/protocol/query.ts";

/** A genuine credential. */
export interface KnownCredential {
  readonly kind: "known";
  readonly principal: Principal;
  /** Expiry, wall time. */
  readonly validUntilMs: number;
  /** Expiry without the allowance for clocks that differ: what it opened ends then. */
  readonly expiresMs: number;
  /** It was checked with the keys of tokens, so it goes when those change. */
  readonly isToken: boolean;
}
