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
  ...namesTo("write two floats", "complex"),
  ...namesTo("write isinstance, or keep the function in a dict", "callable"),
  ...namesTo("write repr", "ascii"),
};
const METHODS: Readonly<Record<string, string>> = {
  ...namesTo("write replace for each character", "translate maketrans"),
  ...namesTo("write datetime.fromisoformat", "utcfromtimestamp combine"),
  ...namesTo("write year, month, day, hour, minute and second", "timetuple utctimetuple"),
  ...namesTo("write the function that calls it, as next or len", "__next__ __len__ __getitem__ __str__"),
};
/** Types whose methods have no value of their own: `key=str.lower`. */
const TYPES = new Set("str list dict set int float bytes tuple".split(" "));
/** Functions of a type that there are. */
const OF_TYPES = new Set("format fromkeys".split(" "));
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
  if (token.kind === "operator") return operatorRefusal(tokens, at);
  if (token.kind !== "name") return undefined;
  if (TYPES.has(token.text) && before?.text !== "." && behind?.text === "." && !OF_TYPES.has(tokens[at + 2]?.text ?? ""))
    return `${token.text}.${tokens[at + 2]?.text ?? ""} is not there; write a lambda that calls it: lambda x: x.${tokens[at + 2]?.text ?? ""}()`;
  if (behind?.text === "(" && !defined.has(token.text)) {
    const text = argumentRefusal(tokens, at);
    if (text !== undefined) return text;
  }
  if (token.text === "match" && startsStatement(before) && isMatch(tokens, at)) return "match is not there; write if and elif";
  if (behind?.text !== "(") return undefined;
  const isMethod = before?.text === ".";
  const advice = ownMember(isMethod ? METHODS : FUNCTIONS, token.text);
  if (advice === undefined || defined.has(token.text)) return undefined;
  return `${isMethod ? "." : ""}${token.text}() is not there; ${advice}`;
}

/** Decorators, items of slices that are set, and dicts that are joined by a bar. */
function operatorRefusal(tokens: readonly PythonToken[], at: number): string | undefined {
  const { text, depth } = tokens[at] as PythonToken;
  if (text === "@" && startsStatement(tokens[at - 1])) return "decorators are not there; call the function on what the other returns";
  if (text === "|" && (tokens[at - 1]?.text === "}" || tokens[at + 1]?.text === "{")) return "| of dicts is not there; write {**a, **b}";
  if (text !== "[" || !isOperand(tokens[at - 1])) return undefined;
  const end = closeOf(tokens, at);
  const isSlice = tokens.slice(at, end).some((one) => one.text === ":" && one.depth === depth + 1);
  return isSlice && tokens[end + 1]?.text === "=" ? "a slice that is set is not there; write a new list: a[:1] + b + a[2:]" : undefined;
}

/** Arguments that functions do not take. */
function argumentRefusal(tokens: readonly PythonToken[], at: number): string | undefined {
  const [name, before] = [tokens[at]?.text, tokens[at - 1]?.text];
  const open = at + 1;
  const end = closeOf(tokens, open);
  const within = tokens.slice(open + 1, end);
  const own = within.filter(({ depth }) => depth === (tokens[open]?.depth ?? 0) + 1);
  if (before === ".") {
    const isCalled =
      name === "sub" && tokens[at - 2]?.text === "re" && own[own.findIndex(({ text }) => text === ",") + 1]?.text === "lambda";
    return isCalled ? "re.sub with a function is not there; write finditer and join" : undefined;
  }
  if (name === "enumerate" && own.some(({ text }, i) => text === "start" && own[i + 1]?.text === "="))
    return "enumerate(start=...) is not there; write enumerate(xs, 1)";
  if (name === "int" && own.some(({ text }) => text === ",")) return "int of another base is not there; add up its digits";
  const isOfComprehension = within[0]?.text === "(" && within.slice(0, closeOf(within, 0)).some(({ text }) => text === "for");
  return name === "next" && isOfComprehension ? "next of a comprehension is not there; write [... for ...] and take its first" : undefined;
}

/** The place of the bracket that closes another; that of the end where none does. */
function closeOf(tokens: readonly PythonToken[], open: number): number {
  const depth = tokens[open]?.depth;
  for (let at = open + 1; at < tokens.length; at++) if (tokens[at]?.depth === depth && /^[)\]}]$/.test(tokens[at]?.text ?? "")) return at;
  return tokens.length;
}

function isOperand(token: PythonToken | undefined): boolean {
  return token !== undefined && (token.kind === "name" || token.text === "]" || token.text === ")");
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
