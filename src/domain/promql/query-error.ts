// A query that cannot be evaluated to its end, with Prometheus' words and the kind that its API names (promql.ErrQueryTimeout and its relatives).

/** Why a query ended: something in it, its budget, its time, or whoever asked. */
export type QueryErrorKind = "execution" | "too_much" | "timeout" | "canceled";

/** The message is for whoever wrote the query. */
export class QueryError extends Error {
  override readonly name = "QueryError";
  readonly kind: QueryErrorKind;

  constructor(message: string, kind: QueryErrorKind = "execution") {
    super(message);
    this.kind = kind;
  }
}
