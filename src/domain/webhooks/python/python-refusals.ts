// What a Python program of a tenant cannot have: found when it is saved, with its line and what to write instead. Names are those of the language; what the
// interpreter lacks and a call can do is rewritten (python-rewriting.ts).
import { ownMember } from "../../../core/collections/own-member.ts";
import { deletedTargets } from "./python-rewriting.ts";
import { type PythonToken, pythonTokens } from "./python-tokens.ts";

/** Something that a program cannot have. */
export interface PythonRefusal {
  readonly line: number;
  /** What it is, what to write instead. */
  readonly text: string;
}

/** Modules that there are. */
const PYTHON_MODULES = ["asyncio", "datetime", "json", "math", "re", "sys", "typing"] as const;

const ID = `event["event_id"] is unique, and the same over all attempts`;
const NOWHERE = "a program has no file, network, process or environment; it gets the event and returns the payload";
const CLOCK = `datetime.now(), or datetime.fromisoformat(event["occurred_at"]) for the event's time`;
const ADVICE: Readonly<Record<string, string>> = {
  ...namesTo(ID, "hashlib uuid secrets random hmac"),
  ...namesTo(NOWHERE, "os io pathlib subprocess socket urllib http requests shutil tempfile glob threading multiprocessing ctypes"),
  ...namesTo(`write ${CLOCK}`, "time calendar zoneinfo"),
  ...namesTo("write a loop, sum, min, max, sorted or zip", "itertools functools operator heapq bisect statistics"),
  ...namesTo("write dicts, with get and setdefault", "collections dataclasses enum abc copy"),
  ...namesTo("write the methods of texts, or re", "string textwrap html base64 locale"),
  ...namesTo("write float and round", "decimal fractions"),
  ...namesTo("what goes wrong stands in the delivery; raise ValueError with a text", "logging traceback warnings"),
};
const FUNCTIONS: Readonly<Record<string, string>> = {
  ...namesTo(NOWHERE, "open input exit quit breakpoint"),
  ...namesTo("write the expression itself", "eval exec compile __import__"),
  ...namesTo("write a dict", "globals locals vars"),
  ...namesTo("write isinstance, or keep the function in a dict", "callable"),
  ...namesTo("write repr", "ascii"),
};
const METHODS: Readonly<Record<string, string>> = {
  ...namesTo("write replace for each character", "translate maketrans"),
};
const THOUSANDS = /\{[^{}]*:[^{}]*[,_][^{}]*\}/;
const F_STRING = /^[rR]?[fF][rR]?["']/;

/** The first thing that it cannot have; undefined where there is none. */
export function pythonRefusal(code: string): PythonRefusal | undefined {
  const { tokens } = pythonTokens(code);
  const defined = new Set(tokens.flatMap(({ text, kind }, at) => (kind === "name" && tokens[at - 1]?.text === "def" ? [text] : [])));
  for (let at = 0; at < tokens.length; at++) {
    const text = refusalAt(tokens, at, defined);
    if (text !== undefined) return { line: tokens[at]?.line as number, text };
  }
  return undefined;
}

function refusalAt(tokens: readonly PythonToken[], at: number, defined: ReadonlySet<string>): string | undefined {
  const token = tokens[at] as PythonToken;
  const [before, behind] = [tokens[at - 1], tokens[at + 1]];
  if (token.kind === "keyword") return keywordRefusal(tokens, at);
  if (token.kind === "number" && /^[\d._]+[jJ]$/.test(token.text)) return "complex numbers are not there; write two floats";
  if (token.kind === "string" && F_STRING.test(token.text) && THOUSANDS.test(token.text))
    return `"," in a format of an f-string is not there; write "{:,}".format(value)`;
  if (token.kind !== "name") return undefined;
  if (token.text === "match" && startsStatement(before) && isMatch(tokens, at)) return "match is not there; write if and elif";
  if (behind?.text !== "(") return undefined;
  const isMethod = before?.text === ".";
  const advice = ownMember(isMethod ? METHODS : FUNCTIONS, token.text);
  if (advice === undefined || defined.has(token.text)) return undefined;
  return `${isMethod ? "." : ""}${token.text}() is not there; ${advice}`;
}

function keywordRefusal(tokens: readonly PythonToken[], at: number): string | undefined {
  const { text } = tokens[at] as PythonToken;
  const before = tokens[at - 1];
  if (text === "class") return "classes are not there; write functions and dicts";
  if (text === "yield") return "generators are not there; build a list and return it";
  if (text === "del" && deletedTargets(tokens, at) === undefined)
    return "del of this is not there; write pop, or a new list or dict without it";
  if (text === "from" && startsStatement(before)) return moduleRefusal(tokens[at + 1]);
  if (text !== "import" || !startsStatement(before)) return undefined;
  for (let k = at + 1; k < tokens.length && tokens[k]?.kind !== "newline" && tokens[k]?.text !== ";"; k++) {
    const problem = k === at + 1 || tokens[k - 1]?.text === "," ? moduleRefusal(tokens[k]) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function moduleRefusal(name: PythonToken | undefined): string | undefined {
  if (name === undefined || (PYTHON_MODULES as readonly string[]).includes(name.text)) return undefined;
  if (name.kind !== "name") return `import of this is not there; modules are ${PYTHON_MODULES.join(", ")}`;
  const advice = ownMember(ADVICE, name.text);
  return `module ${name.text} is not there; ${advice === undefined ? "" : `${advice}; `}modules are ${PYTHON_MODULES.join(", ")}`;
}

function startsStatement(before: PythonToken | undefined): boolean {
  return before === undefined || before.kind === "newline" || before.text === ";" || before.text === ":";
}

/** Whether a line that begins with `match` ends with a colon, with `case` behind it. */
function isMatch(tokens: readonly PythonToken[], at: number): boolean {
  let end = at;
  while (end < tokens.length && tokens[end]?.kind !== "newline") end++;
  if (tokens[end - 1]?.text !== ":") return false;
  while (tokens[end]?.kind === "newline") end++;
  return tokens[end]?.text === "case";
}

function namesTo(advice: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(" ").map((name) => [name, advice]));
}
