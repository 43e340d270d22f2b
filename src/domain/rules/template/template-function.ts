// What a function of templates is, and what it may ask of the expansion that calls it.
// Templates that cannot be read or expanded, in the words of Go's text/template, which Prometheus shows.
import type { VectorSample } from "../../promql/query-engine.ts";
import type { GoValue } from "./go-value.ts";

/** The world of one expansion. */
export interface TemplateWorld {
  /** The moment of the rule's evaluation. */
  readonly nowMs: number;
  readonly externalUrl: string;
  /** Evaluates a query at that moment; throws where it cannot be. */
  readonly query: (text: string) => readonly VectorSample[];
}

/** A function with the number of its arguments; the first `texts` must be texts, all where it is true. */
export interface TemplateFunction {
  readonly least: number;
  readonly most: number;
  readonly texts?: number;
  /** Throws FunctionError where a value is none that it takes. */
  readonly call: (values: readonly GoValue[], world: TemplateWorld) => GoValue;
}

/** The message names template and line. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}
