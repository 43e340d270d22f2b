// What the interpreter of Python programs lacks and a call can do is rewritten to that call, line for line: `"{}".format(x)` to `__format("{}", x)`, `a % b` to
// `__percent(a, b)`, `datetime.now()` to `__now(datetime)`, `del d[k]` to `d.pop(k)`. The functions are in the sandbox's prelude.
import { type PythonToken, pythonTokens } from "./python-tokens.ts";

/** Methods that become functions of the prelude, their receiver the first argument. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ["format", "__format"],
  ["format_map", "__format_map"],
  ["astimezone", "__astimezone"],
  ["now", "__now"],
  ["utcnow", "__utcnow"],
  ["today", "__today"],
  ["fromtimestamp", "__fromtimestamp"],
]);
const TERM_OPERATORS = new Set(["*", "/", "//", "@", "%"]);
const SIGNS = new Set(["-", "+", "~"]);

/** The program as the interpreter takes it. */
export interface RewrittenPython {
  readonly code: string;
  /** Whether it calls the prelude. */
  readonly callsPrelude: boolean;
}

/** A token on its way out. */
interface Piece {
  readonly token: PythonToken;
  gap: string;
  text: string;
  prefix: string;
  suffix: string;
}

/** Expression of one bracket: places of the operands that an operator to come would take. */
interface Frame {
  factor: number | undefined;
  term: number | undefined;
  hasOperand: boolean;
  /** A call's bracket that the end of this operand closes. */
  isOpen: boolean;
}

/** The program with what a call can do rewritten; its lines keep their numbers. */
export function rewrittenPython(code: string): RewrittenPython {
  const { tokens, rest } = pythonTokens(code);
  const pieces = tokens.map((token): Piece => ({ token, gap: token.gap, text: token.text, prefix: "", suffix: "" }));
  for (let at = 0; at < pieces.length; at++) if (tokens[at]?.text === "del" && tokens[at]?.kind === "keyword") rewriteDeletion(pieces, at);
  const calls = rewriteExpressions(pieces);
  const text = pieces.map((piece) => piece.gap + piece.prefix + piece.text + piece.suffix).join("");
  return { code: text + rest, callsPrelude: calls || tokens.some((one) => one.kind === "name" && one.text === "format") };
}

/** Targets of a `del` that a call cannot do are left to the interpreter, which refuses them. */
function rewriteDeletion(pieces: readonly Piece[], at: number): void {
  const targets = deletedTargets(
    pieces.map(({ token }) => token),
    at,
  );
  if (targets === undefined) return;
  (pieces[at] as Piece).text = "";
  const first = pieces[at + 1] as Piece;
  // A joined line is a line.
  if (!first.gap.includes("\n")) first.gap = "";
  for (const { open, close } of targets) {
    const last = pieces[close] as Piece;
    if (open === undefined) last.suffix += " = None";
    else {
      (pieces[open] as Piece).text = ".pop(";
      last.text = ")";
    }
    const next = pieces[close + 1];
    if (next?.token.text === ",") next.text = ";";
  }
}

/** Last tokens of the targets behind `del`, with the bracket that each item is in; undefined where one is neither a name nor one item. */
export function deletedTargets(tokens: readonly PythonToken[], at: number): Array<{ open: number | undefined; close: number }> | undefined {
  const depth = tokens[at]?.depth ?? 0;
  const targets: Array<{ open: number | undefined; close: number }> = [];
  let [open, start] = [undefined as number | undefined, at + 1];
  for (let k = at + 1; ; k++) {
    const token = tokens[k];
    const ends = token === undefined || (token.depth === depth && (token.kind === "newline" || token.text === ";" || token.text === ","));
    if (token !== undefined && token.depth === depth && token.text === "[") open = k;
    if (open !== undefined && token?.depth === depth + 1 && token.text === ":") return undefined;
    if (!ends) continue;
    const last = tokens[k - 1];
    if (last?.text === "]" && open !== undefined && open > start) targets.push({ open, close: k - 1 });
    else if (k - 1 === start && last?.kind === "name") targets.push({ open: undefined, close: k - 1 });
    else return undefined;
    if (token?.text !== ",") return targets;
    [open, start] = [undefined, k + 1];
  }
}

/** Whether anything was rewritten. */
function rewriteExpressions(pieces: readonly Piece[]): boolean {
  const fresh = (): Frame => ({ factor: undefined, term: undefined, hasOperand: false, isOpen: false });
  const frames = [fresh()];
  let calls = false;
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at] as Piece;
    const { kind, text } = piece.token;
    const frame = frames.at(-1) as Frame;
    const isOpening = kind === "operator" && (text === "(" || text === "[" || text === "{");
    if (kind === "operator" && (text === ")" || text === "]" || text === "}")) {
      if (frames.length > 1) {
        close(frame, pieces[at - 1]);
        frames.pop();
      }
      (frames.at(-1) as Frame).hasOperand = true;
    } else if (isOpening || kind === "name" || kind === "number" || kind === "string") {
      takeOperand(frame, at, isOpening || (kind === "string" && pieces[at - 1]?.token.kind === "string"));
      if (isOpening) frames.push(fresh());
      else frame.hasOperand = true;
    } else if (text === "." && frame.hasOperand) {
      if (rewriteMethod(pieces, at, frame)) calls = true;
      // The member's name is part of the operand.
      if (pieces[at + 1]?.token.kind === "name") at++;
    } else if (frame.hasOperand && text === "**") frame.hasOperand = false;
    else if (frame.hasOperand && TERM_OPERATORS.has(text)) {
      close(frame, pieces[at - 1]);
      if (text === "%") {
        calls = true;
        (pieces[frame.term ?? at] as Piece).prefix = `__percent(${pieces[frame.term ?? at]?.prefix}`;
        piece.text = ",";
        frame.isOpen = true;
      }
      frame.hasOperand = false;
    } else if (!frame.hasOperand && SIGNS.has(text)) frame.term ??= at;
    else {
      close(frame, pieces[at - 1]);
      Object.assign(frame, fresh());
    }
  }
  for (const frame of frames) close(frame, pieces.at(-1));
  return calls;
}

/** An operand begins here, unless it goes on: with a call, an item, or one more text behind a text. */
function takeOperand(frame: Frame, at: number, goesOn: boolean): void {
  if (frame.hasOperand && goesOn) return;
  frame.factor = at;
  frame.term ??= at;
}

function close(frame: Frame, last: Piece | undefined): void {
  if (frame.isOpen && last !== undefined) last.suffix += ")";
  frame.isOpen = false;
}

/** `receiver.method(` at the dot. */
function rewriteMethod(pieces: readonly Piece[], at: number, { factor }: Frame): boolean {
  const [dot, name, bracket, next] = [pieces[at], pieces[at + 1], pieces[at + 2], pieces[at + 3]];
  const called = METHODS.get(name?.token.text ?? "");
  if (dot === undefined || name === undefined || called === undefined) return false;
  const receiver = pieces[factor ?? at] as Piece;
  if (bracket?.token.text !== "(") {
    if (name.token.text !== "format") return false;
    // The method itself, as for map().
    receiver.prefix = `(lambda *__a, **__k: __format(${receiver.prefix}`;
    [dot.text, name.text] = ["", ", *__a, **__k))"];
    return true;
  }
  receiver.prefix = `${called}(${receiver.prefix}`;
  [dot.text, name.text, bracket.text] = ["", "", next?.token.text === ")" ? "" : ", "];
  return true;
}
