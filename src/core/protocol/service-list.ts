// A list of services, as an engine tells the coordinator.

/** Service, environment, streams, wall time of the oldest value (0: not known) and of the newest. */
export type ListedService = readonly [serviceId: string, environment: string, streams: number, firstMs: number, lastMs: number];

/** Asks for the services of a tenant that have streams in the engine's memory. */
export interface ServiceListQuery {
  readonly type: "service-list";
  readonly id: number;
  readonly tenant: string;
}

export interface ServiceListAnswer {
  readonly type: "service-list";
  readonly id: number;
  readonly rows: readonly ListedService[];
}
