// The state as nouns see it: each names the books that it uses, and has no sight of the others.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import type { CoordinatorShares } from "./coordinator-shares.ts";

/** State that every noun may use: the two environments, the key of page tokens, and what tenants share. */
export interface StoredState {
  readonly control: KeyValueStore;
  readonly series: KeyValueStore;
  /** Key that seals page tokens. */
  readonly pageSecret: Uint8Array;
  readonly shares: CoordinatorShares;
}

/** That, and the books that a noun names: of what is observed, and of what people have configured. */
export type StateWith<Books = unknown, Configured = unknown> = StoredState & Books & { readonly configured: Configured };
