// Reads a template into its tree, with Go's messages (text/template/parse/parse.go).
import { TEMPLATE_DEPTH_MAX } from "../../../core/config/rule-limits.ts";
import { parseFloat64 } from "../../promql/parser/number-text.ts";
import { quote, unquote } from "../../promql/parser/quoted-text.ts";
import { TemplateError } from "./template-function.ts";
import { TemplateLexer, type TemplateToken, type TemplateTokenKind } from "./template-lexer.ts";
import type { Command, Operand, ParsedTemplate, Pipeline, TemplateNode } from "./template-node.ts";

/** Reads a template whose functions are `functions`; throws TemplateError. */
export function parseTemplate(name: string, source: string, functions: ReadonlySet<string>): ParsedTemplate {
  return new TemplateParser(name, source, functions).parse();
}

interface BlockEnd {
  readonly nodes: TemplateNode[];
  readonly by: "end" | "else";
}

const OPERAND_KINDS: ReadonlySet<TemplateTokenKind> = new Set([
  "identifier",
  "field",
  "variable",
  "dot",
  "nil",
  "bool",
  "string",
  "rune",
  "number",
  "(",
]);

class TemplateParser {
  readonly #name: string;
  readonly #source: string;
  readonly #functions: ReadonlySet<string>;
  readonly #lexer: TemplateLexer;
  readonly #ahead: TemplateToken[] = [];
  readonly #definitions = new Map<string, readonly TemplateNode[]>();
  #variables: string[] = ["$"];
  #loops = 0;
  #depth = 0;
  #end = 0;

  constructor(name: string, source: string, functions: ReadonlySet<string>) {
    this.#name = name;
    this.#source = source;
    this.#functions = functions;
    this.#lexer = new TemplateLexer(source);
  }

  parse(): ParsedTemplate {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const token = this.#take();
      if (token.kind === "end of input") break;
      const node = this.#piece(token);
      if (node === "end" || node === "else") throw this.#fault(`unexpected {{${node}}}`);
      if (node !== undefined) nodes.push(node);
    }
    return { name: this.#name, source: this.#source, nodes, definitions: this.#definitions };
  }

  #fault(reason: string, at = this.#end): TemplateError {
    const line = this.#source.slice(0, at).split("\n").length;
    return new TemplateError(`template: ${this.#name}:${line}: ${reason}`);
  }

  #take(): TemplateToken {
    const token = this.#ahead.shift() ?? this.#lexer.next();
    this.#end = token.start;
    if (token.kind === "error") throw this.#fault(token.text);
    return token;
  }

  #peek(): TemplateToken {
    const token = this.#take();
    this.#ahead.unshift(token);
    return token;
  }

  #takeBeyondSpace(): TemplateToken {
    const token = this.#take();
    return token.kind === "space" ? this.#take() : token;
  }

  #peekBeyondSpace(): TemplateToken {
    const token = this.#takeBeyondSpace();
    this.#ahead.unshift(token);
    return token;
  }

  #unexpected({ kind, text }: TemplateToken, context: string): TemplateError {
    const what = kind === "end of input" ? "EOF" : kind === "keyword" || kind === "dot" || kind === "nil" ? `<${text}>` : quote(text);
    return this.#fault(`unexpected ${what} in ${context}`);
  }

  #expect(kind: TemplateTokenKind, context: string): TemplateToken {
    const token = this.#takeBeyondSpace();
    if (token.kind !== kind) throw this.#unexpected(token, context);
    return token;
  }

  #nested<Result>(read: () => Result): Result {
    if (++this.#depth > TEMPLATE_DEPTH_MAX) throw this.#fault(`nested more than ${TEMPLATE_DEPTH_MAX} levels deep`);
    const result = read();
    this.#depth--;
    return result;
  }

  /** The node that a token begins, the end of a block, or nothing for a definition. */
  #piece(token: TemplateToken): TemplateNode | "end" | "else" | undefined {
    if (token.kind === "text") return { kind: "text", start: token.start, text: token.text };
    if (token.kind !== "open") throw this.#unexpected(token, "input");
    const first = this.#takeBeyondSpace();
    if (first.kind === "keyword") return this.#statement(first);
    this.#ahead.unshift(first);
    const pipeline = this.#pipeline("command", "close");
    return { kind: "action", start: first.start, text: pipeline.text, pipeline };
  }

  #statement(word: TemplateToken): TemplateNode | "end" | "else" | undefined {
    const { start, text } = word;
    switch (text) {
      case "end":
        this.#expect("close", "end");
        return "end";
      case "else":
        return this.#else();
      case "if":
      case "with":
      case "range":
        return this.#control(word, text);
      case "break":
      case "continue":
        if (this.#loops === 0) throw this.#fault(`{{${text}}} outside {{range}}`, start);
        this.#expect("close", `{{${text}}}`);
        return { kind: text, start, text };
      case "template":
        return this.#call();
      case "define":
        return this.#define(word);
      default:
        return this.#block(word);
    }
  }

  /** {{else}}, or {{else if ...}} whose `if` is read again as a block of its own. */
  #else(): "else" {
    const next = this.#peekBeyondSpace();
    if (next.kind !== "keyword" || (next.text !== "if" && next.text !== "with")) this.#expect("close", "else");
    return "else";
  }

  /** Nodes up to {{end}} or {{else}}. */
  #list(): BlockEnd {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const token = this.#take();
      if (token.kind === "end of input") throw this.#fault("unexpected EOF");
      const node = this.#piece(token);
      if (node === "end" || node === "else") return { nodes, by: node };
      if (node !== undefined) nodes.push(node);
    }
  }

  #control({ start, text }: TemplateToken, kind: "if" | "with" | "range"): TemplateNode {
    return this.#nested(() => {
      const scope = this.#variables.length;
      const pipeline = this.#pipeline(kind, "close");
      if (kind === "range") this.#loops++;
      const { nodes: body, by } = this.#list();
      if (kind === "range") this.#loops--;
      const otherwise = by === "else" ? this.#otherwise(kind) : [];
      this.#variables.length = scope;
      return { kind, start, text, pipeline, body, otherwise };
    });
  }

  #otherwise(kind: string): TemplateNode[] {
    const next = this.#peekBeyondSpace();
    if (next.kind === "keyword" && next.text === kind && kind !== "range") {
      this.#takeBeyondSpace();
      return [this.#control(next, kind as "if" | "with")];
    }
    const { nodes, by } = this.#list();
    if (by === "else") throw this.#fault("expected end; found {{else}}");
    return nodes;
  }

  #templateName(context: string): string {
    const token = this.#takeBeyondSpace();
    const name = token.kind === "string" ? unquote(token.text) : undefined;
    if (name === undefined) throw this.#unexpected(token, context);
    return name;
  }

  #call(): TemplateNode {
    const { start } = this.#peekBeyondSpace();
    const template = this.#templateName("template clause");
    const isBare = this.#peekBeyondSpace().kind === "close";
    if (isBare) this.#takeBeyondSpace();
    const pipeline = isBare ? undefined : this.#pipeline("template clause", "close");
    return { kind: "template", start, text: `{{template ${quote(template)}}}`, template, pipeline };
  }

  /** {{define "x"}}: variables of outside are not seen. */
  #define({ start }: TemplateToken): undefined {
    const name = this.#templateName("define clause");
    this.#expect("close", "define clause");
    this.#defineBody(name, start);
  }

  #defineBody(name: string, start: number): void {
    const [outer, loops] = [this.#variables, this.#loops];
    [this.#variables, this.#loops] = [["$"], 0];
    const { nodes, by } = this.#nested(() => this.#list());
    if (by === "else") throw this.#fault("unexpected {{else}} in define clause", start);
    [this.#variables, this.#loops] = [outer, loops];
    this.#definitions.set(name, nodes);
  }

  #block({ start, text }: TemplateToken): TemplateNode {
    const template = this.#templateName("block clause");
    const pipeline = this.#pipeline("block clause", "close");
    this.#defineBody(template, start);
    return { kind: "template", start, text, template, pipeline };
  }

  #pipeline(context: string, end: "close" | ")"): Pipeline {
    const { start } = this.#peekBeyondSpace();
    const { variables, isAssignment } = this.#declared(context);
    const commands: Command[] = [];
    for (;;) {
      const token = this.#takeBeyondSpace();
      if (token.kind === end) break;
      if (!OPERAND_KINDS.has(token.kind)) throw this.#unexpected(token, context);
      this.#ahead.unshift(token);
      commands.push(this.#command());
    }
    const text = this.#source.slice(start, this.#end).trim();
    if (commands.length === 0) throw this.#fault(`missing value for ${context}`);
    const dead = commands
      .slice(1)
      .findIndex(({ operands: [first] }) => first.kind === "dot" || first.kind === "nil" || first.kind === "constant");
    if (dead >= 0) throw this.#fault(`non executable command in pipeline stage ${dead + 2}`);
    return { start, text, variables, isAssignment, commands };
  }

  /** `$x :=`, `$x =`, and for a range `$key, $value :=`. */
  #declared(context: string): Pick<Pipeline, "variables" | "isAssignment"> {
    const none = { variables: [], isAssignment: false };
    const first = this.#takeBeyondSpace();
    if (first.kind !== "variable") {
      this.#ahead.unshift(first);
      return none;
    }
    const space = this.#take();
    const next = space.kind === "space" ? this.#take() : space;
    if (next.kind === "declare" || next.kind === "assign") return this.#declare([first.text], next.kind === "assign");
    if (next.kind === "character" && next.text === ",") {
      if (context !== "range") throw this.#fault(`too many declarations in ${context}`);
      const second = this.#expect("variable", "range");
      const sign = this.#takeBeyondSpace();
      if (sign.kind !== "declare" && sign.kind !== "assign") throw this.#fault("range can only initialize variables");
      return this.#declare([first.text, second.text], sign.kind === "assign");
    }
    this.#ahead.unshift(...(space === next ? [first, next] : [first, space, next]));
    return none;
  }

  #declare(variables: readonly string[], isAssignment: boolean): Pick<Pipeline, "variables" | "isAssignment"> {
    if (!isAssignment) this.#variables.push(...variables);
    else for (const variable of variables) this.#checkVariable(variable);
    return { variables, isAssignment };
  }

  #checkVariable(name: string): void {
    if (!this.#variables.includes(name)) throw this.#fault(`undefined variable ${quote(name)}`);
  }

  #command(): Command {
    const operands: Operand[] = [];
    const { start } = this.#peekBeyondSpace();
    for (;;) {
      const operand = this.#operand();
      if (operand !== undefined) operands.push(operand);
      const token = this.#take();
      if (token.kind === "space" && operand !== undefined) {
        const next = this.#peek().kind;
        if (next !== "pipe" && next !== "close" && next !== ")") continue;
        if (next === "pipe") this.#take();
        break;
      }
      if (token.kind === "close" || token.kind === ")") this.#ahead.unshift(token);
      else if (token.kind !== "pipe") throw this.#unexpected(token, "operand");
      break;
    }
    const [first, ...others] = operands;
    if (first === undefined) throw this.#fault("empty command");
    return { start, text: operands.map(({ text }) => text).join(" "), operands: [first, ...others] };
  }

  #operand(): Operand | undefined {
    const term = this.#term();
    if (term === undefined || this.#peek().kind !== "field") return term;
    const { start } = this.#peek();
    const fields: string[] = [];
    while (this.#peek().kind === "field") fields.push(this.#take().text.slice(1));
    const text = `${term.text}.${fields.join(".")}`;
    if (term.kind === "field") return { ...term, start, text, fields: [...term.fields, ...fields] };
    if (term.kind === "variable") return { ...term, start, text, fields };
    if (term.kind === "constant" || term.kind === "nil") throw this.#fault(`unexpected . after term ${quote(term.text)}`);
    return { kind: "chain", start, text, operand: term, fields };
  }

  #term(): Operand | undefined {
    const token = this.#takeBeyondSpace();
    const { kind, start, text } = token;
    switch (kind) {
      case "identifier":
        if (!this.#functions.has(text)) throw this.#fault(`function ${quote(text)} not defined`);
        return { kind: "function", start, text, function: text };
      case "dot":
      case "nil":
        return { kind, start, text };
      case "variable":
        this.#checkVariable(text);
        return { kind, start, text, variable: text, fields: [] };
      case "field":
        return { kind, start, text, fields: [text.slice(1)] };
      case "bool":
      case "string":
      case "rune":
      case "number":
        return { kind: "constant", start, text, value: this.#constant(token) };
      case "(":
        return this.#nested(() => {
          const pipeline = this.#pipeline("parenthesized pipeline", ")");
          return { kind: "pipeline", start, text: `(${pipeline.text})`, pipeline };
        });
      default:
        this.#ahead.unshift(token);
        return undefined;
    }
  }

  #constant({ kind, text }: TemplateToken): string | number | bigint | boolean {
    if (kind === "bool") return text === "true";
    if (kind === "number") return this.#number(text);
    const value = unquote(text);
    if (value === undefined) throw this.#fault("invalid syntax");
    if (kind === "string") return value;
    if ([...value].length !== 1) throw this.#fault(`malformed character constant: ${text}`);
    return BigInt(value.codePointAt(0) as number);
  }

  #number(text: string): number | bigint {
    const bare = text.replaceAll("_", "");
    const digits = bare.replace(/^[+-]/, "");
    const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
    if (/^(?:\d+|0[xXoObB][0-9a-fA-F]+)$/.test(octal)) return bare.startsWith("-") ? -BigInt(octal) : BigInt(octal);
    const value = parseFloat64(bare);
    if (value === undefined) throw this.#fault(`bad number syntax: ${quote(text)}`);
    return value;
  }
}
