// What the handlers of pillars and the service map use.
import type { Changing } from "../access/changes.ts";
import type { Using } from "../queries/query-context.ts";
import type { ServiceMapBook } from "./service-map-book.ts";

export interface PillarBooks {
  readonly serviceMap: ServiceMapBook;
}

export type PillarsContext = Using<"nowMs" | "pause", unknown, PillarBooks> & Changing;
