// A YAML file as a tree of texts with lines and columns, so that whoever reads it can say where something is wrong. Depth, aliases and size are bounded before
// anything is made of it; scalars stay the texts that were written, as Prometheus' fields of rules are texts.
import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  visit,
  type YAMLMap,
} from "yaml";
import { RULE_FILE_CHARACTERS_MAX, RULE_FILE_DEPTH_MAX, RULE_FILE_NODES_MAX } from "../../../core/config/rule-limits.ts";
import { quote } from "../../promql/parser/quoted-text.ts";

/** Where something stands, from 1. */
export interface YamlPosition {
  readonly line: number;
  readonly column: number;
}

/** A member of a mapping. */
export interface YamlMember {
  readonly key: string;
  readonly line: number;
  readonly value: YamlTree;
}

/** A piece of a file. A scalar that says nothing, or null, is null. */
export type YamlTree = YamlPosition &
  (
    | { readonly kind: "mapping"; readonly members: readonly YamlMember[] }
    | { readonly kind: "sequence"; readonly items: readonly YamlTree[] }
    | { readonly kind: "scalar"; readonly text: string; readonly isQuoted: boolean }
    | { readonly kind: "null" }
  );

/** A file that cannot be read; a message has several lines where there is more than one fault. */
export class RuleFileError extends Error {
  override readonly name = "RuleFileError";
}

const NULL = /^(?:|~|null|Null|NULL)$/;
const MERGE_KEY = "<<";
/** Of the nodes of a tree, this share at most comes by aliases, once there are so many: go-yaml's rule, by which Prometheus refuses a file. */
const ALIASED_SHARE_MAX = 0.99;
const ALIASED_NODES_FREE = 1_000;
const OPTIONS = {
  version: "1.2",
  schema: "failsafe",
  merge: false,
  strict: true,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "silent",
} as const;

/** Reads the first document of a file; undefined where there is none. Throws RuleFileError. */
export function readYamlTree(text: string): YamlTree | undefined {
  if (text.length > RULE_FILE_CHARACTERS_MAX) throw new RuleFileError(`yaml: a file has at most ${RULE_FILE_CHARACTERS_MAX} characters`);
  const lines = new LineCounter();
  const [document] = [...new Composer(OPTIONS).compose(tokensOf(text, lines), false, text.length)];
  if (document === undefined || document.contents === null) return undefined;
  const [fault] = document.errors;
  if (fault !== undefined) throw new RuleFileError(`yaml: line ${lines.linePos(fault.pos[0]).line}: ${fault.message}`);
  const maker = new TreeMaker(document, lines);
  const tree = maker.make(document.contents as Node);
  if (maker.faults.length > 0) throw new RuleFileError(`yaml: unmarshal errors:\n${maker.faults.join("\n")}`);
  return tree;
}

type Tokens = ReturnType<Parser["end"]> extends Generator<infer T> ? T[] : never;

/** The concrete syntax, which takes no recursion: depth is bounded before anything does. */
function tokensOf(text: string, lines: LineCounter): Tokens {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens: Tokens = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > RULE_FILE_DEPTH_MAX) throw new RuleFileError(`yaml: nested more than ${RULE_FILE_DEPTH_MAX} levels deep`);
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/** What each alias stands for: the last node before it that has its anchor. One pass for all: a look for each would take a minute where there are many. */
function targetsOf(document: Document.Parsed | Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document as Document, {
    Node(_key, node) {
      const target = isAlias(node) ? anchors.get(node.source) : undefined;
      if (isAlias(node)) {
        if (target !== undefined) targets.set(node, target);
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

class TreeMaker {
  readonly faults: string[] = [];
  readonly #document: Document.Parsed | Document;
  readonly #lines: LineCounter;
  #targets: ReadonlyMap<Alias, Node> | undefined;
  readonly #following = new Set<Alias>();
  #count = 0;
  #aliasedCount = 0;

  constructor(document: Document.Parsed | Document, lines: LineCounter) {
    this.#document = document;
    this.#lines = lines;
  }

  make(node: Node | null): YamlTree {
    this.#count++;
    if (this.#following.size > 0) this.#aliasedCount++;
    if (this.#count > RULE_FILE_NODES_MAX || this.#isAliasedTooMuch) throw new RuleFileError("yaml: document contains excessive aliasing");
    if (isAlias(node)) return this.#follow(node);
    const position = this.#position(node);
    if (isMap(node)) return { ...position, kind: "mapping", members: this.#members(node) };
    if (isSeq(node)) return { ...position, kind: "sequence", items: node.items.map((item) => this.make(item as Node)) };
    if (!isScalar(node)) return { ...position, kind: "null" };
    const text = String(node.value ?? "");
    const isQuoted = node.type !== undefined && node.type !== "PLAIN";
    return !isQuoted && NULL.test(text) ? { ...position, kind: "null" } : { ...position, kind: "scalar", text, isQuoted };
  }

  get #isAliasedTooMuch(): boolean {
    return this.#count > ALIASED_NODES_FREE && this.#aliasedCount > ALIASED_SHARE_MAX * this.#count;
  }

  #position(node: Node | null): YamlPosition {
    const offset = node?.range?.[0] ?? 0;
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }

  #follow(alias: Alias): YamlTree {
    this.#targets ??= targetsOf(this.#document);
    const target = this.#targets.get(alias);
    if (target === undefined) throw new RuleFileError(`yaml: unknown anchor '${alias.source}' referenced`);
    if (this.#following.has(alias)) throw new RuleFileError(`yaml: anchor '${alias.source}' value contains itself`);
    this.#following.add(alias);
    const tree = this.make(target);
    this.#following.delete(alias);
    return tree;
  }

  #members(map: YAMLMap): YamlMember[] {
    const found = new Map<string, YamlMember>();
    const merged: YamlMember[] = [];
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value ?? "") : "";
      const { line } = this.#position(key as Node);
      const tree = this.make(value as Node | null);
      if (name === MERGE_KEY && isScalar(key) && key.type === "PLAIN") merged.push(...this.#merged(tree));
      else if (found.has(name)) {
        this.faults.push(`  line ${line}: mapping key ${quote(name)} already defined at line ${found.get(name)?.line}`);
      } else found.set(name, { key: name, line, value: tree });
    }
    return [
      ...found.values(),
      ...merged.filter(({ key }, index) => !found.has(key) && merged.findIndex((one) => one.key === key) === index),
    ];
  }

  /** Members that `<<` takes over; of several mappings the first goes before. */
  #merged(tree: YamlTree): readonly YamlMember[] {
    if (tree.kind === "mapping") return tree.members;
    if (tree.kind === "sequence" && tree.items.every(({ kind }) => kind === "mapping"))
      return tree.items.flatMap((item) => this.#merged(item));
    throw new RuleFileError("yaml: map merge requires map or sequence of maps as the value");
  }
}
