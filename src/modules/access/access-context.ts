// What the handlers of keys, users, tenants and the audit log use.
import type { Using } from "../queries/query-context.ts";
import type { RowCounts } from "../state/row-counts.ts";
import type { CountingContext } from "../usage/usage-module.ts";
import type { Changing } from "./changes.ts";
import type { KeyBook } from "./key-book.ts";
import type { TenantBook } from "./tenant-book.ts";
import type { UserBook } from "./user-book.ts";

export interface AccessBooks {
  readonly keys: KeyBook;
  readonly users: UserBook;
  readonly tenants: TenantBook;
  readonly audit: RowCounts;
}

export type AccessContext = Using<"nowMs" | "randomBytes" | "yieldToLoop", unknown, AccessBooks> & Changing & CountingContext;
