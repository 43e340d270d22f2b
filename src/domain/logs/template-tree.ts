// Templates of log texts, mined as they come: a parse tree of fixed depth after Drain (He, Zhu, Zheng, Lyu: Drain: An Online Log Parsing Approach with Fixed
// Depth Tree, ICWS 2017). A masked text goes by its number of words, its first word and its line of source to a few templates; it joins the one of whose fixed words it has most
// in their places, more than half, and the words that differ become <*>; else it is a new one. Other than in Drain the share is that of the fixed words, so a
// text that comes again always fits and changes nothing.
import { BoundedMap } from "../../core/collections/bounded-map.ts";

/** Words of a text that count; the rest of a longer one is cut. */
const TOKENS_MAX = 40;
/** Templates of one service; beyond, texts that fit none are counted as none. */
export const TEMPLATES_MAX = 500;
/** A text is of a template when it has more than this share of its fixed words in their places. */
const SIMILARITY = 0.5;
/** Texts whose template is remembered. */
const KNOWN_TEXTS_MAX = 2_000;
const ANY = "<*>";

export interface Template {
  tokens: string[];
}

/** Templates of one service. `T` is what its owner keeps with each. */
export class TemplateTree<T extends Template> {
  readonly #make: (tokens: string[]) => T;
  readonly #branches = new Map<string, T[]>();
  readonly #known = new BoundedMap<string, T>(KNOWN_TEXTS_MAX);
  readonly #templates = new Set<T>();

  constructor(make: (tokens: string[]) => T) {
    this.#make = make;
  }

  get size(): number {
    return this.#templates.size;
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#templates.values();
  }

  /** The template of a masked text, made where none fits; undefined when there are too many. */
  take(text: string): T | undefined {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const tokens = text.split(" ").slice(0, TOKENS_MAX);
    const branch = this.#branch(tokens);
    const template = closest(branch, tokens) ?? this.#add(tokens, branch);
    if (template === undefined) return undefined;
    this.#known.set(text, template);
    return template;
  }

  /** Puts a template back. */
  restore(tokens: string[]): T | undefined {
    return this.#add(tokens, this.#branch(tokens));
  }

  /** Forgets the templates that `isIdle` says. */
  forget(isIdle: (template: T) => boolean): void {
    for (const template of this.#templates) {
      if (!isIdle(template)) continue;
      const branch = this.#branch(template.tokens);
      branch.splice(branch.indexOf(template), 1);
      this.#templates.delete(template);
    }
    this.#known.clear();
  }

  /** By number of words, first word and place in the source; a first word with a mask or a digit in it says nothing. */
  #branch(tokens: readonly string[]): T[] {
    const first = tokens[0] as string;
    const key = `${tokens.length} ${/[<\d]/.test(first) ? ANY : first} ${sourceLine(tokens) ?? ""}`;
    let branch = this.#branches.get(key);
    if (branch === undefined) {
      branch = [];
      this.#branches.set(key, branch);
    }
    return branch;
  }

  #add(tokens: string[], branch: T[]): T | undefined {
    if (this.#templates.size >= TEMPLATES_MAX) return undefined;
    const template = this.#make(tokens);
    branch.push(template);
    this.#templates.add(template);
    return template;
  }
}

/** The word of a masked text that names a line of the source (`OrderService#115`, `main.go:42`): the only digits that masks leave. */
export function sourceLine(tokens: readonly string[]): string | undefined {
  return tokens.find((word) => /[#:]\d/.test(word));
}

/** The template of whose fixed words most are in the text, which takes the text in; of several that with most such words, then the oldest. */
function closest<T extends Template>(branch: readonly T[], tokens: readonly string[]): T | undefined {
  let best: T | undefined;
  let bestShare = SIMILARITY;
  let bestEqual = 0;
  for (const template of branch) {
    let fixed = 0;
    let equal = 0;
    for (let i = 0; i < tokens.length; i++) {
      if (template.tokens[i] === ANY) continue;
      fixed++;
      if (template.tokens[i] === tokens[i]) equal++;
    }
    const share = fixed === 0 ? 1 : equal / fixed;
    if (share < bestShare || (share === bestShare && equal <= bestEqual)) continue;
    if (share === SIMILARITY) continue;
    best = template;
    bestShare = share;
    bestEqual = equal;
  }
  if (best !== undefined) best.tokens = best.tokens.map((word, i) => (word === tokens[i] ? word : ANY));
  return best;
}
