// What declarations of endpoints need not say.
import type { Endpoint } from "./endpoint.ts";
import { NO_QUERY } from "./endpoints/query-shapes.ts";

/** Most endpoints are the coordinator's, and half of them take no query. */
const USUAL = { handledBy: "coordinator", query: NO_QUERY } as const;

type Declaration = Omit<Endpoint, keyof typeof USUAL> & Partial<Pick<Endpoint, keyof typeof USUAL>>;
type Completed<D> = D & Omit<typeof USUAL, keyof D>;

/** Completes declarations with what is usual. */
export function declared<const L extends readonly Declaration[]>(endpoints: L) {
  return endpoints.map((endpoint) => ({ ...USUAL, ...endpoint })) as { readonly [I in keyof L]: Completed<L[I]> };
}
