/** State that all exchanges of one server share. */
import { AnswerHeads } from "./answer-head.ts";
import { BodyPool } from "./body-pool.ts";
import { BodyShares } from "./body-shares.ts";
import { DeadlineSweep } from "./deadline-sweep.ts";
import type { HttpLimits } from "./http-limits.ts";
import { httpLimits } from "./http-limits.ts";
import type { HttpServerOptions } from "./http-server.ts";

/** Shared by the exchanges of one server; `draining` and `isUnix` are set by the server alone. */
export interface ServerContext {
  readonly options: HttpServerOptions;
  readonly limits: HttpLimits;
  readonly pool: BodyPool;
  readonly bodies: BodyShares;
  readonly sweep: DeadlineSweep;
  /** Once true, every answer closes its connection. */
  draining: boolean;
  /** Its peers come over a Unix socket. */
  isUnix: boolean;
  readonly heads: AnswerHeads;
}

/** Makes the shared parts from the options. */
export function createServerContext(options: HttpServerOptions): ServerContext {
  const limits = httpLimits(options.limits);
  return {
    options,
    limits,
    pool: new BodyPool({ retainedBytesMax: limits.bodyBytesRetainedMax }),
    bodies: options.bodies ?? BodyShares.alone(),
    sweep: new DeadlineSweep(Math.min(limits.bodyTimeoutMs, limits.bodyWindowMs, limits.lingerMs)),
    draining: false,
    isUnix: false,
    heads: new AnswerHeads(options.commonHeaders ?? []),
  };
}
