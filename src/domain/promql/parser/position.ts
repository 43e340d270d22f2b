// Where something stands in a query, as Prometheus tells it (promql/parser/posrange/posrange.go): line and column count from 1, columns in bytes.
import { utf8Bytes } from "../../../core/text/utf8.ts";

/** `line:column` of an offset in UTF-16 units. */
export function positionText(query: string, offset: number): string {
  if (query === "") return "unknown position";
  const lineStart = query.lastIndexOf("\n", offset - 1) + 1;
  const line = query.slice(0, lineStart).split("\n").length;
  return `${line}:${utf8Bytes(query.slice(lineStart, offset)) + 1}`;
}

/** A query that is none; the message is Prometheus' own, with line and column. */
export class ParseError extends Error {
  override readonly name = "ParseError";

  constructor(query: string, offset: number, reason: string) {
    super(`${positionText(query, offset)}: parse error: ${reason}`);
  }
}
