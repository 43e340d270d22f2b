// Matchers of labels as Alertmanager has them: =, !=, =~ and !~, the pattern anchored at both ends. Patterns are a part of regular
// expressions that needs no backtracking: alternatives with |, and in them ., .*, .+ and escaped characters. Matching takes time in proportion
// to pattern times value.

export type MatchOperator = "=" | "!=" | "=~" | "!~";

export interface LabelMatcher {
  readonly name: string;
  readonly operator: MatchOperator;
  readonly value: string;
}

export type Labels = Readonly<Record<string, string>>;

/** A character or any one, alone or any number of times from `min` on. */
interface Piece {
  readonly character: string | null;
  readonly min: 0 | 1;
  readonly many: boolean;
}

const PATTERN_CHARACTERS_MAX = 1024;
const SPECIAL = new Set("()[]{}^$*+?");

/** Whether all matchers hold; a label that is absent is empty. */
export function matchesAll(matchers: readonly LabelMatcher[], labels: Labels): boolean {
  return matchers.every((matcher) => matches(matcher, labels));
}

/** The same for many alerts: patterns are read once. */
export function compileMatchers(matchers: readonly LabelMatcher[]): (labels: Labels) => boolean {
  const parsed = matchers.map((matcher) => ({ matcher, alternatives: isPattern(matcher) ? parsePattern(matcher.value) : null }));
  return (labels) => parsed.every(({ matcher, alternatives }) => matches(matcher, labels, alternatives));
}

/** What is wrong with a matcher, in a sentence; null where nothing is. */
export function matcherProblem({ name, operator, value }: LabelMatcher): string | null {
  if (name === "") return "a matcher names no label";
  if (operator === "=" || operator === "!=") return null;
  return parsePattern(value) === null
    ? `pattern "${value.slice(0, 80)}" of ${name} is more than |, ., .*, .+ and escaped characters, or longer than ${PATTERN_CHARACTERS_MAX}; write alternatives such as api|web-.*`
    : null;
}

function isPattern({ operator }: LabelMatcher): boolean {
  return operator === "=~" || operator === "!~";
}

function matches(matcher: LabelMatcher, labels: Labels, parsed?: readonly Piece[][] | null): boolean {
  const { name, operator, value } = matcher;
  const label = Object.hasOwn(labels, name) ? (labels[name] as string) : "";
  if (operator === "=") return label === value;
  if (operator === "!=") return label !== value;
  const alternatives = parsed ?? parsePattern(value);
  if (alternatives === null) return false;
  const matched = alternatives.some((pieces) => matchesPieces(pieces, label));
  return operator === "=~" ? matched : !matched;
}

function parsePattern(pattern: string): readonly Piece[][] | null {
  if (pattern.length > PATTERN_CHARACTERS_MAX) return null;
  const alternatives: Piece[][] = [[]];
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i] as string;
    const pieces = alternatives[alternatives.length - 1] as Piece[];
    if (character === "|") {
      alternatives.push([]);
    } else if (character === "\\") {
      if (++i === pattern.length || /[\p{L}\d]/u.test(pattern[i] as string)) return null;
      pieces.push({ character: pattern[i] as string, min: 1, many: false });
    } else if (character === ".") {
      const next = pattern[i + 1];
      const many = next === "*" || next === "+";
      if (many) i++;
      pieces.push({ character: null, min: next === "*" ? 0 : 1, many });
    } else if (SPECIAL.has(character)) {
      return null;
    } else {
      pieces.push({ character, min: 1, many: false });
    }
  }
  return alternatives;
}

/** The places in the text that the pieces so far can end at, one piece after another. */
function matchesPieces(pieces: readonly Piece[], text: string): boolean {
  let places = new Uint8Array(text.length + 1);
  places[0] = 1;
  for (const { character, min, many } of pieces) {
    const next = new Uint8Array(text.length + 1);
    let reached = false;
    for (let at = 0; at <= text.length; at++) {
      if (many && min === 0 && places[at] === 1) reached = true;
      if (many && reached) next[at] = 1;
      if (places[at] !== 1 || at === text.length) continue;
      if (many) reached = true;
      else if (character === null || text[at] === character) next[at + 1] = 1;
    }
    places = next;
  }
  return places[text.length] === 1;
}
