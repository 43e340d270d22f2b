// Expands a template that was read (text/template/exec.go): bounded in steps, depth, queries and what it writes, so that none takes its thread.
import {
  TEMPLATE_DEPTH_MAX,
  TEMPLATE_OUTPUT_CHARACTERS_MAX,
  TEMPLATE_QUERIES_MAX,
  TEMPLATE_STEPS_MAX,
} from "../../../core/config/rule-limits.ts";
import { messageOf } from "../../../core/text/error-text.ts";
import { utf8Bytes } from "../../../core/text/utf8.ts";
import { quote } from "../../promql/parser/quoted-text.ts";
import { FunctionError } from "./go-comparison.ts";
import { methodOf, type ValueMethod } from "./go-time-methods.ts";
import { GoStruct, type GoValue, goText, goType, isGoList, isGoMap, isTrue } from "./go-value.ts";
import { RULE_FUNCTIONS } from "./rule-functions.ts";
import { TemplateError, type TemplateFunction, type TemplateWorld } from "./template-function.ts";
import type { Command, Operand, ParsedTemplate, Pipeline, TemplateNode } from "./template-node.ts";

/** How a list of nodes ended: at its end, or by a loop's word. */
type Ending = "end" | "break" | "continue";
/** A node as errors name it. */
type Named = Pick<TemplateNode, "start" | "text">;

type ControlNode = TemplateNode & { readonly kind: "if" | "with" | "range" };

/** Expands a template with a value as its dot. Throws TemplateError. */
export function expandParsed(template: ParsedTemplate, dot: GoValue, world: TemplateWorld): string {
  const expansion = new TemplateExpansion(template, world);
  expansion.run(template.nodes, dot);
  return expansion.text;
}

class TemplateExpansion {
  readonly #template: ParsedTemplate;
  readonly #world: TemplateWorld;
  readonly #pieces: string[] = [];
  #variables: Array<[name: string, value: GoValue]> = [];
  #executing: string;
  #characters = 0;
  #steps = 0;
  #queries = 0;
  #depth = 0;

  constructor(template: ParsedTemplate, world: TemplateWorld) {
    this.#template = template;
    this.#executing = template.name;
    this.#world = { ...world, query: (text) => this.#query(text, world) };
  }

  /** The text that has been written so far. */
  get text(): string {
    return this.#pieces.join("");
  }

  /** Runs nodes of a template with variables of their own. */
  run(nodes: readonly TemplateNode[], dot: GoValue): void {
    const outer = this.#variables;
    this.#variables = [["$", dot]];
    this.#list(nodes, dot);
    this.#variables = outer;
  }

  #query(text: string, world: TemplateWorld): ReturnType<TemplateWorld["query"]> {
    if (++this.#queries > TEMPLATE_QUERIES_MAX) throw new FunctionError(`more than ${TEMPLATE_QUERIES_MAX} queries`);
    return world.query(text);
  }

  #fault({ start, text }: Named, reason: string): TemplateError {
    const { name, source } = this.#template;
    const lineStart = source.lastIndexOf("\n", start - 1) + 1;
    const line = source.slice(0, lineStart).split("\n").length;
    const column = utf8Bytes(source.slice(lineStart, start));
    return new TemplateError(`template: ${name}:${line}:${column}: executing ${quote(this.#executing)} at <${text}>: ${reason}`);
  }

  #count(node: Named): void {
    if (++this.#steps > TEMPLATE_STEPS_MAX) throw this.#fault(node, `more than ${TEMPLATE_STEPS_MAX} steps`);
  }

  #write(node: Named, text: string): void {
    this.#characters += text.length;
    if (this.#characters > TEMPLATE_OUTPUT_CHARACTERS_MAX) {
      throw this.#fault(node, `writes more than ${TEMPLATE_OUTPUT_CHARACTERS_MAX} characters`);
    }
    this.#pieces.push(text);
  }

  #list(nodes: readonly TemplateNode[], dot: GoValue): Ending {
    for (const node of nodes) {
      const ending = this.#node(node, dot);
      if (ending !== "end") return ending;
    }
    return "end";
  }

  #node(node: TemplateNode, dot: GoValue): Ending {
    this.#count(node);
    switch (node.kind) {
      case "text":
        this.#write(node, node.text);
        return "end";
      case "break":
      case "continue":
        return node.kind;
      case "action": {
        const value = this.#pipeline(node.pipeline, dot);
        if (node.pipeline.variables.length === 0) this.#write(node, printed(value));
        return "end";
      }
      case "template":
        this.#call(node, dot);
        return "end";
      default:
        return this.#scoped(() => this.#control(node, dot));
    }
  }

  #scoped<Result>(run: () => Result): Result {
    const count = this.#variables.length;
    const result = run();
    this.#variables.length = count;
    return result;
  }

  #call(node: TemplateNode & { readonly kind: "template" }, dot: GoValue): void {
    const nodes = this.#template.definitions.get(node.template);
    if (nodes === undefined) throw this.#fault(node, `template ${quote(node.template)} not defined`);
    if (++this.#depth > TEMPLATE_DEPTH_MAX) throw this.#fault(node, `exceeded maximum template depth (${TEMPLATE_DEPTH_MAX})`);
    const value = node.pipeline === undefined ? null : this.#pipeline(node.pipeline, dot);
    const outer = this.#executing;
    this.#executing = node.template;
    this.run(nodes, value);
    this.#executing = outer;
    this.#depth--;
  }

  #control(node: ControlNode, dot: GoValue): Ending {
    const value = this.#pipeline(node.pipeline, dot);
    if (node.kind === "range") return this.#range(node, value, dot);
    if (!isTrue(value)) return this.#list(node.otherwise, dot);
    return this.#list(node.body, node.kind === "with" ? value : dot);
  }

  #range(node: ControlNode, value: GoValue, dot: GoValue): Ending {
    const items = this.#items(node.pipeline, value);
    if (items.length === 0) return this.#list(node.otherwise, dot);
    const { variables, isAssignment } = node.pipeline;
    for (const [key, item] of items) {
      this.#count(node);
      const ending = this.#scoped(() => {
        const pair = variables.length > 1 ? [key, item] : [item];
        for (const [index, name] of variables.entries()) this.#set(name, pair[index], isAssignment);
        return this.#list(node.body, item);
      });
      if (ending === "break") break;
    }
    return "end";
  }

  /** What a range goes over: a map in the order of its keys. */
  #items(node: Named, value: GoValue): ReadonlyArray<readonly [GoValue, GoValue]> {
    if (value === null || value === undefined) return [];
    if (isGoList(value)) return value.map((item, index) => [BigInt(index), item] as const);
    if (isGoMap(value)) return [...value].sort(([a], [b]) => (a < b ? -1 : 1));
    if (typeof value !== "bigint") throw this.#fault(node, `range can't iterate over ${goText(value)}`);
    const count = Number(value > BigInt(TEMPLATE_STEPS_MAX) ? TEMPLATE_STEPS_MAX + 1 : value);
    return Array.from({ length: Math.max(0, count) }, (_, index) => [BigInt(index), BigInt(index)] as const);
  }

  #set(name: string, value: GoValue, isAssignment: boolean): void {
    const known = isAssignment ? this.#variables.findLast((variable) => variable[0] === name) : undefined;
    if (known === undefined) this.#variables.push([name, value]);
    else known[1] = value;
  }

  #pipeline(pipeline: Pipeline, dot: GoValue): GoValue {
    let value: GoValue;
    for (const [index, command] of pipeline.commands.entries()) value = this.#command(command, dot, index === 0 ? [] : [value]);
    for (const name of pipeline.variables) this.#set(name, value, pipeline.isAssignment);
    return value;
  }

  /** `last` is the value of the command before. */
  #command(command: Command, dot: GoValue, last: readonly GoValue[]): GoValue {
    const [head, ...rest] = command.operands;
    if (head.kind === "function") return this.#function(head.function, command, dot, last);
    if (rest.length > 0 || last.length > 0) return this.#methodCall(head, rest, dot, last);
    if (head.kind === "nil") throw this.#fault(head, "nil is not a command");
    return this.#operand(head, dot);
  }

  /** An operand with arguments that is no function: times alone have methods that take some. */
  #methodCall(head: Operand, operands: readonly Operand[], dot: GoValue, last: readonly GoValue[]): GoValue {
    const name = "fields" in head ? head.fields.at(-1) : undefined;
    if (!("fields" in head) || name === undefined) throw this.#fault(head, `can't give argument to non-function ${head.text}`);
    const receiver = this.#operand({ ...head, fields: head.fields.slice(0, -1) }, dot);
    const method = methodOf(receiver, name);
    if (method !== undefined) return this.#called(head, name, method, [...operands.map((operand) => this.#operand(operand, dot)), ...last]);
    this.#field(head, receiver, name);
    throw this.#fault(head, `${name} is not a method but has arguments`);
  }

  #called(node: Named, name: string, { count, call }: ValueMethod, args: readonly GoValue[]): GoValue {
    if (args.length !== count) throw this.#fault(node, `wrong number of args for ${name}: want ${count} got ${args.length}`);
    const texts = args.filter((arg) => typeof arg === "string");
    if (texts.length < count) throw this.#fault(node, `wrong type for value; expected string; got ${goType(args[0])}`);
    return call(texts);
  }

  #operand(operand: Operand, dot: GoValue): GoValue {
    this.#count(operand);
    switch (operand.kind) {
      case "dot":
        return dot;
      case "nil":
        return null;
      case "constant":
        return operand.value;
      case "field":
        return this.#fields(operand, dot, operand.fields);
      case "variable": {
        const found = this.#variables.findLast(([name]) => name === operand.variable);
        return this.#fields(operand, found?.[1], operand.fields);
      }
      case "function":
        return this.#function(operand.function, { start: operand.start, text: operand.text, operands: [operand] }, dot, []);
      case "pipeline":
        return this.#scoped(() => this.#pipeline(operand.pipeline, dot));
      case "chain":
        return this.#fields(operand, this.#operand(operand.operand, dot), operand.fields);
    }
  }

  #fields(node: Named, value: GoValue, names: readonly string[]): GoValue {
    let current = value;
    for (const name of names) current = this.#field(node, current, name);
    return current;
  }

  #field(node: Named, value: GoValue, name: string): GoValue {
    if (isGoMap(value)) return value.get(name) ?? "";
    if (value instanceof GoStruct && value.fields.has(name)) return value.fields.get(name);
    const method = methodOf(value, name);
    if (method !== undefined) return this.#called(node, name, method, []);
    if (value === null || value === undefined) throw this.#fault(node, `nil data; no entry for key ${quote(name)}`);
    throw this.#fault(node, `can't evaluate field ${name} in type ${goType(value)}`);
  }

  #function(name: string, command: Command, dot: GoValue, last: readonly GoValue[]): GoValue {
    this.#count(command);
    const operands = command.operands.slice(1);
    if (name === "and" || name === "or") return this.#junction(name, command, dot, last);
    const known = RULE_FUNCTIONS.get(name) as TemplateFunction;
    const count = operands.length + last.length;
    if (count < known.least || count > known.most) throw this.#fault(command.operands[0], argumentCountText(name, known, count));
    const values = [...operands.map((operand) => this.#operand(operand, dot)), ...last];
    for (const [index, value] of values.slice(0, known.texts ?? 0).entries()) {
      if (typeof value !== "string") throw this.#wrongText(operands[index] ?? command, value);
    }
    try {
      return known.call(values, this.#world);
    } catch (error) {
      if (error instanceof TemplateError) throw error;
      throw this.#fault(command, `error calling ${name}: ${messageOf(error)}`);
    }
  }

  /** A constant is told as it was written. */
  #wrongText(node: Operand | Command, value: GoValue): TemplateError {
    const isConstant = "kind" in node && node.kind === "constant";
    return this.#fault(
      node,
      isConstant ? `expected string; found ${node.text}` : `wrong type for value; expected string; got ${goType(value)}`,
    );
  }

  /** The first operand that decides; those behind it are not evaluated. */
  #junction(name: "and" | "or", command: Command, dot: GoValue, last: readonly GoValue[]): GoValue {
    const operands = command.operands.slice(1);
    if (operands.length + last.length === 0) throw this.#fault(command, `wrong number of args for ${name}: want at least 1 got 0`);
    let value: GoValue;
    for (const operand of operands) {
      value = this.#operand(operand, dot);
      if (isTrue(value) === (name === "or")) return value;
    }
    return last.length > 0 ? last[0] : value;
  }
}

function argumentCountText(name: string, { least, most }: TemplateFunction, count: number): string {
  const wanted = most === least ? String(least) : most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
  return `wrong number of args for ${name}: want ${wanted} got ${count}`;
}

function printed(value: GoValue): string {
  return value === undefined || value === null ? "<no value>" : goText(value);
}
