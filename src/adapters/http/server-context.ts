/** What all exchanges of one server share. */
import { BodyPool } from "./body-pool.ts";
import { DeadlineSweep } from "./deadline-sweep.ts";
import type { HttpLimits } from "./http-limits.ts";
import { httpLimits } from "./http-limits.ts";
import type { HttpHeaders, HttpServerOptions } from "./http-server.ts";

/** Shared by the exchanges of one server; `draining` is set by the server alone. */
export interface ServerContext {
  readonly options: HttpServerOptions;
  readonly limits: HttpLimits;
  readonly pool: BodyPool;
  readonly sweep: DeadlineSweep;
  /** Once true, every answer closes its connection. */
  draining: boolean;
  /** Status and header lines that were checked last: most answers have the same ones. */
  checkedStatus: number;
  checkedHeaders: HttpHeaders | undefined;
}

/** Makes the shared parts from the options. */
export function createServerContext(options: HttpServerOptions): ServerContext {
  const limits = httpLimits(options.limits);
  return {
    options,
    limits,
    pool: new BodyPool({ inUseBytesMax: limits.bodyBytesInUseMax, retainedBytesMax: limits.bodyBytesRetainedMax }),
    sweep: new DeadlineSweep(Math.min(limits.bodyTimeoutMs, limits.lingerMs)),
    draining: false,
    checkedStatus: 0,
    checkedHeaders: undefined,
  };
}
