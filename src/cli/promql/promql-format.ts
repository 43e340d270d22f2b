// `vedette promql format`: a query in its canonical form, or what is wrong with it, with line and column.
import { parseExpression } from "../../domain/promql/parser/parser.ts";
import { ParseError } from "../../domain/promql/parser/position.ts";
import { printExpression } from "../../domain/promql/parser/printer.ts";
import { EXIT, UsageError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import { writeJson } from "../client/table-text.ts";
import type { CommandArguments } from "../command-arguments.ts";

/** Prints a query; exit code 1 where it is none. */
export function runPromqlFormat(input: CommandArguments): number {
  const [query] = input.operands;
  if (query === undefined) throw new UsageError("vedette promql format needs an EXPR");
  try {
    const expression = printExpression(parseExpression(query));
    if (input.has("json")) writeJson({ expression });
    else writeLine(expression);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    if (input.has("json")) writeJson({ error: error.message });
    else writeError(error.message);
    return EXIT.problems;
  }
}
