// Templates that cannot be read or expanded, in the words of Go's text/template, which Prometheus shows.

/** The message names template and line. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}
