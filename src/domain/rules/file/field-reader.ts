// Reads members of a YAML tree by their names, and gathers what is wrong with its line, in the words of Prometheus' reader: unknown members are faults.
import { parseDurationMs } from "../../promql/parser/duration-text.ts";
import { parseFloat64 } from "../../promql/parser/number-text.ts";
import { RuleFileError, type YamlTree } from "./yaml-tree.ts";

const SHOWN_CHARACTERS = 7;

/** Members of a mapping by name. */
export type Fields = ReadonlyMap<string, YamlTree>;

/** Reads the members of one file and notes what is wrong with them. */
export class FieldReader {
  readonly #faults: string[] = [];
  readonly #canIgnore: boolean;

  /** `canIgnore`: members that are not known are left out. */
  constructor(canIgnore = false) {
    this.#canIgnore = canIgnore;
  }

  /** Throws RuleFileError where anything was wrong. */
  finish(): void {
    if (this.#faults.length > 0) throw new RuleFileError(`yaml: unmarshal errors:\n${this.#faults.join("\n")}`);
  }

  #note(line: number, reason: string): void {
    this.#faults.push(`  line ${line}: ${reason}`);
  }

  #mismatch(tree: YamlTree, wanted: string): void {
    this.#note(tree.line, `cannot unmarshal ${described(tree)} into ${wanted}`);
  }

  /** Members of a mapping, which may be those of `names` alone; `type` is what Prometheus calls it. */
  record(tree: YamlTree | undefined, type: string, names: readonly string[]): Fields {
    const fields = new Map<string, YamlTree>();
    if (tree === undefined || tree.kind === "null") return fields;
    if (tree.kind !== "mapping") this.#mismatch(tree, type);
    else {
      for (const { key, line, value } of tree.members) {
        if (names.includes(key)) fields.set(key, value);
        else if (!this.#canIgnore) this.#note(line, `field ${key} not found in type ${type}`);
      }
    }
    return fields;
  }

  /** Items of a sequence; none where it is missing. */
  list(tree: YamlTree | undefined, type: string): readonly YamlTree[] {
    if (tree === undefined || tree.kind === "null") return [];
    if (tree.kind === "sequence") return tree.items;
    this.#mismatch(tree, `[]${type}`);
    return [];
  }

  /** A text; empty where there is none. */
  text(tree: YamlTree | undefined): string {
    if (tree === undefined || tree.kind === "null") return "";
    if (tree.kind === "scalar") return tree.text;
    this.#mismatch(tree, "string");
    return "";
  }

  /** Texts of a mapping by their names. */
  texts(tree: YamlTree | undefined): ReadonlyMap<string, string> {
    if (tree === undefined || tree.kind === "null") return new Map();
    if (tree.kind === "mapping") return new Map(tree.members.map(({ key, value }) => [key, this.text(value)]));
    this.#mismatch(tree, "map[string]string");
    return new Map();
  }

  /** Milliseconds of a duration; undefined where there is none. */
  durationMs(tree: YamlTree | undefined): number | undefined {
    if (tree === undefined) return undefined;
    const text = this.text(tree);
    const ms = text === "0" ? 0 : parseDurationMs(text);
    if (typeof ms === "number") return ms;
    this.#note(tree.line, ms);
    return undefined;
  }

  /** A whole number; 0 where there is none. */
  integer(tree: YamlTree | undefined): number {
    const text = this.text(tree).replaceAll("_", "");
    if (text === "") return 0;
    if (/^[+-]?\d{1,15}$/.test(text)) return Number(text);
    this.#mismatch(tree as YamlTree, "int");
    return 0;
  }

  /** A number as YAML says one: 1, 1e3, .inf, .nan; 0 where there is none. */
  number(tree: YamlTree | undefined): number {
    const text = this.text(tree).replaceAll("_", "");
    if (text === "") return 0;
    const special = /^([+-]?)\.?(inf|nan)$/i.exec(text);
    const value = special === null ? parseFloat64(text) : /nan/i.test(text) ? Number.NaN : special[1] === "-" ? -Infinity : Infinity;
    if (value !== undefined) return value;
    this.#mismatch(tree as YamlTree, "float64");
    return 0;
  }

  /** Whether a switch is on. */
  boolean(tree: YamlTree | undefined): boolean {
    const text = this.text(tree);
    if (/^(?:true|True|TRUE|yes|Yes|YES|on|On|ON|y|Y)$/.test(text)) return true;
    if (text !== "" && !/^(?:false|False|FALSE|no|No|NO|off|Off|OFF|n|N)$/.test(text)) this.#mismatch(tree as YamlTree, "bool");
    return false;
  }
}

function described(tree: YamlTree): string {
  if (tree.kind === "mapping") return "!!map";
  if (tree.kind !== "scalar") return tree.kind === "sequence" ? "!!seq" : "!!null";
  const tag = tree.isQuoted || !/^[-+.\d]/.test(tree.text) ? "!!str" : /^[-+]?\d+$/.test(tree.text) ? "!!int" : "!!float";
  const shown = tree.text.length > SHOWN_CHARACTERS + 3 ? `${tree.text.slice(0, SHOWN_CHARACTERS)}...` : tree.text;
  return `${tag} \`${shown}\``;
}
