// What check-house.mjs counts in the sources, as functions of parsed files: names of files, words of identifiers, doc comments, constants.
import { basename } from "node:path";
import ts from "typescript";

/** Words with a meaning of our own, where the field has one: index, state, writer, suppressed, decoder, input, stored, rule, cycle, notify, capacity, aggregate, scan, update. */
export const REFUSED_WORDS = [
  "fold",
  "gate",
  "given",
  "hear",
  "held",
  "kept",
  "lane",
  "look",
  "news",
  "pass",
  "place",
  "room",
  "round",
  "sink",
  "tell",
  "tick",
  "told",
  "turn",
  "walk",
  "words",
];
/** Their plurals and past forms, which are the same words. */
export const REFUSED_FORMS = [
  "folded",
  "folds",
  "gates",
  "heard",
  "hold",
  "holds",
  "keep",
  "keeps",
  "lanes",
  "looked",
  "looks",
  "passed",
  "passes",
  "placed",
  "places",
  "rooms",
  "rounds",
  "sinks",
  "tells",
  "ticks",
  "turned",
  "turns",
  "walked",
  "walks",
  "word",
];
const SHORT_COMMENT_WORDS = 4;
const CALCULATIONS = new Map([
  [ts.SyntaxKind.PlusToken, (a, b) => a + b],
  [ts.SyntaxKind.MinusToken, (a, b) => a - b],
  [ts.SyntaxKind.AsteriskToken, (a, b) => a * b],
  [ts.SyntaxKind.AsteriskAsteriskToken, (a, b) => a ** b],
  [ts.SyntaxKind.SlashToken, (a, b) => a / b],
]);
const EMPTY_WORDS = new Set(["a", "an", "and", "for", "in", "is", "its", "of", "on", "that", "the", "this", "to", "with"]);

/** Returns the base names that two files or more of src have, sorted. */
export function twinNames(paths) {
  const counts = new Map();
  for (const path of paths) {
    const name = basename(path).replace(/\.(?:d\.)?[cm]?[jt]sx?$/, "");
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 1)
    .map(([name]) => name)
    .sort();
}

/** Returns the words of a name, in lower case: `heldRows` and HELD_ROWS have held and rows. */
export function wordsOf(name) {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}

/** Returns the names that a source declares, each as often as it is declared; names of imports are others'. */
export function declaredNames(source) {
  const names = [];
  const visit = (node) => {
    if (node.name && ts.isIdentifier(node.name) && !ts.isImportSpecifier(node) && !ts.isExportSpecifier(node) && isDeclaration(node))
      names.push(node.name.text);
    else if (node.name && ts.isPrivateIdentifier(node.name) && isDeclaration(node)) names.push(node.name.text.slice(1));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

function isDeclaration(node) {
  return (
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isEnumDeclaration(node) ||
    ts.isClassElement(node) ||
    ts.isTypeElement(node)
  );
}

/** Returns how many declared names have each of the words. */
export function refusedWords(names, words = REFUSED_WORDS) {
  const counts = Object.fromEntries(words.map((word) => [word, 0]));
  for (const name of names) {
    for (const word of new Set(wordsOf(name))) if (Object.hasOwn(counts, word)) counts[word]++;
  }
  return counts;
}

/** Returns the doc comments of a text that say nothing: of four words at most, or of no word that the name behind them has not. */
export function emptyComments(text) {
  const empty = [];
  for (const match of text.matchAll(/\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*([^\n]*)/g)) {
    const words = wordsOf(match[1].replace(/^\s*\*/gm, " "));
    const name =
      /(?:const|let|function\*?|class|interface|type|get|set|readonly|async|static)?\s*#?([A-Za-z_$][\w$]*)\s*[?=:(<{]/.exec(
        match[2],
      )?.[1] ?? "";
    const known = new Set(wordsOf(name));
    const says = words.some((word) => !EMPTY_WORDS.has(word) && !known.has(word));
    if (words.length <= SHORT_COMMENT_WORDS || !says) empty.push(match[1].trim());
  }
  return empty;
}

/** Returns {name, value} of the constants in capitals that stand at the top of a source and are numbers or texts. */
export function constantsOf(source) {
  return source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .filter(({ name, initializer }) => initializer && ts.isIdentifier(name) && /^[A-Z][A-Z0-9_]+$/.test(name.text) && isPlain(initializer))
    .map(({ name, initializer }) => ({ name: name.text, value: valueText(initializer, source) }));
}

/** Returns the value of a calculation with numbers alone, so that 60 * 1_000 is 60_000, and the text of anything else. */
function valueText(node, source) {
  const value = numberOf(node);
  return value === undefined ? node.getText(source).replaceAll(/[\s_]/g, "") : String(value);
}

function numberOf(node) {
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isParenthesizedExpression(node)) return numberOf(node.expression);
  if (ts.isPrefixUnaryExpression(node)) {
    const value = numberOf(node.operand);
    return node.operator === ts.SyntaxKind.MinusToken && value !== undefined ? -value : undefined;
  }
  if (!ts.isBinaryExpression(node)) return undefined;
  const [left, right] = [numberOf(node.left), numberOf(node.right)];
  const calculate = CALCULATIONS.get(node.operatorToken.kind);
  return left === undefined || right === undefined ? undefined : calculate?.(left, right);
}

function isPlain(node) {
  if (ts.isBinaryExpression(node)) return isPlain(node.left) && isPlain(node.right);
  if (ts.isParenthesizedExpression(node) || ts.isPrefixUnaryExpression(node)) return isPlain(node.expression ?? node.operand);
  return ts.isNumericLiteral(node) || ts.isStringLiteral(node) || (ts.isIdentifier(node) && /^[A-Z]/.test(node.text));
}

/** Returns the constants of one name and one value that stand in two files or more, as `NAME = value: files`. */
export function repeatedConstants(files) {
  const homes = new Map();
  for (const { path, constants } of files) {
    for (const { name, value } of constants) {
      const key = `${name} = ${value}`;
      homes.set(key, [...(homes.get(key) ?? []), path]);
    }
  }
  return [...homes].filter(([, paths]) => paths.length > 1).map(([key, paths]) => `${key}: ${paths.join(", ")}`);
}

/** Returns how often a test's source waits for a time rather than for what it expects: a promise of setTimeout, or that of node:timers/promises. */
export function pausesOf(source) {
  const timed = new Set(
    source.statements
      .filter((node) => ts.isImportDeclaration(node) && node.moduleSpecifier.text === "node:timers/promises")
      .flatMap(({ importClause }) => importClause?.namedBindings?.elements ?? [])
      .map(({ name }) => name.text),
  );
  let count = 0;
  const visit = (node) => {
    const isPromise = ts.isNewExpression(node) && node.expression.getText(source) === "Promise";
    if (isPromise && /\bsetTimeout\(/.test(node.getText(source))) count++;
    else if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && timed.has(node.expression.text)) count++;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return count;
}

const SUITE = /^(?:it|test|describe|before(?:All|Each)|after(?:All|Each))\b/;

/**
 * Returns how often a test or a hook is given a number of milliseconds of its own, below `leastMs`: a machine that others use as well then
 * fails it by chance. A longer one is right where a test has more to do.
 */
export function tightLimitsOf(source, leastMs) {
  const isTight = (node) => ts.isNumericLiteral(node) && Number(node.text) < leastMs;
  const isOption = (node) => ts.isPropertyAssignment(node) && node.name.getText(source) === "timeout" && isTight(node.initializer);
  let count = 0;
  const visit = (node) => {
    if (ts.isCallExpression(node) && SUITE.test(node.expression.getText(source))) {
      const [, ...others] = node.arguments;
      for (const one of others) if (isTight(one) || (ts.isObjectLiteralExpression(one) && one.properties.some(isOption))) count++;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return count;
}

/** Returns how many words a page has, as wc counts them; what checks read in comments is no word. */
export function pageWords(text) {
  const read = text.replaceAll(/<!--.*?-->|# bench [\w-]+: .*/g, "");
  return read.split(/\s+/).filter(Boolean).length;
}
