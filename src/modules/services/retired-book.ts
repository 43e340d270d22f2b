// Services that people have retired: their silence is none. What they send later brings them back, without a word here.
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { nullable, number, StoredForm, text } from "../state/stored-json.ts";
import { type StoredKind, StoredTable } from "../state/stored-table.ts";

export interface RetiredService {
  readonly tenant: string;
  readonly serviceId: string;
  /** Null for all of them. */
  readonly environment: string | null;
  readonly atMs: number;
  readonly by: string;
}

const RETIRED: StoredKind<RetiredService> = {
  table: "retired_services",
  form: new StoredForm<RetiredService>("retired_services", {
    tenant: text,
    serviceId: text,
    environment: nullable(text),
    atMs: number,
    by: text,
  }),
  key: ({ tenant, ...service }) => new KeyBuilder().text(tenant).text(service.serviceId).text(environmentKey(service)).finish(),
  idOf: retiredId,
};

export class RetiredBook extends StoredTable<RetiredService> {
  constructor(shares?: ShareLedger) {
    super(RETIRED, shares);
  }

  /** Whether a service that was last heard of then is not missed. */
  isRetired(tenant: string, serviceId: string, environment: string, lastSeenMs: number): boolean {
    if (this.size === 0) return false;
    const of = [environment, null].map((one) => this.find(tenant, retiredId({ serviceId, environment: one })));
    return of.some((retired) => retired !== undefined && lastSeenMs <= retired.atMs);
  }

  /** Those of before, at most `most`. */
  olderThan(beforeMs: number, most: number): RetiredService[] {
    const found: RetiredService[] = [];
    for (const retired of this.all()) {
      if (found.length === most) break;
      if (retired.atMs < beforeMs) found.push(retired);
    }
    return found;
  }
}

type ServiceKey = Pick<RetiredService, "serviceId" | "environment">;

/** What a retirement is known by in its tenant. */
export function retiredId({ serviceId, environment }: ServiceKey): string {
  return JSON.stringify([serviceId, environment]);
}

/** The environment that has no name is another one than all of them. */
function environmentKey({ environment }: ServiceKey): string {
  return environment === null ? "" : `=${environment}`;
}
