// Tokens of a Python program, as far as it takes to see which operands an operator has and which words are used: not its grammar. Linear in its length.

export interface PythonToken {
  readonly kind: "name" | "keyword" | "number" | "string" | "operator" | "newline";
  readonly text: string;
  /** White space, comments and joined lines ahead of it. */
  readonly gap: string;
  /** From 1 on. */
  readonly line: number;
  /** Brackets around it; a bracket counts as outside itself. Ends of lines within brackets are gaps. */
  readonly depth: number;
}

const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise " +
    "return try while with yield"
  ).split(" "),
);
/** Words that stand for a value. */
const VALUES = new Set(["False", "None", "True"]);
const TOKEN =
  /(?<gap>(?:[ \t\f\r]|\\\r?\n|#[^\n]*)*)(?:(?<newline>\n)|(?<string>[A-Za-z]{0,2}(?:"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'))|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?<number>\.?\d(?:[\w.]|(?<=[eE])[+-])*)|(?<operator>\*\*=?|\/\/=?|>>=?|<<=?|->|:=|\.\.\.|[=!<>+\-*/%@&|^]=|[\s\S]))/uy;
const OPENS = new Set(["(", "[", "{"]);
const CLOSES = new Set([")", "]", "}"]);

/** The tokens, and the gap behind the last. */
export function pythonTokens(code: string): { readonly tokens: readonly PythonToken[]; readonly rest: string } {
  const tokens: PythonToken[] = [];
  const pattern = new RegExp(TOKEN);
  let [line, depth, gap] = [1, 0, ""];
  while (pattern.lastIndex < code.length) {
    const start = pattern.lastIndex;
    const groups = pattern.exec(code)?.groups;
    if (groups === undefined) return { tokens, rest: gap + code.slice(start) };
    gap += groups.gap ?? "";
    line += breaks(groups.gap ?? "");
    const { newline, name, number, string, operator } = groups;
    const text = newline ?? name ?? number ?? string ?? operator ?? "";
    if (newline !== undefined && depth > 0) gap += text;
    else {
      if (CLOSES.has(text) && operator !== undefined) depth = Math.max(0, depth - 1);
      const word = name !== undefined && KEYWORDS.has(text) && !VALUES.has(text) ? "keyword" : "name";
      const kind =
        name !== undefined
          ? word
          : number !== undefined
            ? "number"
            : string !== undefined
              ? "string"
              : newline !== undefined
                ? "newline"
                : "operator";
      tokens.push({ kind, text, gap, line, depth });
      if (OPENS.has(text) && operator !== undefined) depth++;
      gap = "";
    }
    line += breaks(text);
  }
  return { tokens, rest: gap };
}

function breaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
