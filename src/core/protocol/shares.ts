// What threads tell each other of the limits that tenants share.

/** A tenant's places of one limit in one thread. */
export interface ShareRow {
  readonly limit: string;
  readonly tenant: string;
  readonly used: number;
  /** Places that are sure for each tenant. */
  readonly share: number;
  readonly most: number;
  /** Places that it was refused since the start, each as often as it was asked for. */
  readonly refused: number;
}

/** Asks an engine for a tenant's places, or with null for those who were refused most. */
export interface SharesQuery {
  readonly type: "shares";
  readonly id: number;
  readonly tenant: string | null;
}

export interface SharesAnswer {
  readonly type: "shares";
  readonly id: number;
  readonly rows: readonly ShareRow[];
}
