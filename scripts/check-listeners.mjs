// Refuses what could throw where nobody catches it: listeners, timers, callbacks of Node's own functions and promises that nobody waits for, unless they go through the guard
// (src/core/faults/guard.ts, ADR 8). Prints one line per finding, `file:line reason`; exits with 1 if it found anything.
import { relative } from "node:path";
import ts from "typescript";

const guard = "src/core/faults/guard.ts";

/** Where a throw may end the process, or where there is none of ours, with the reason. */
const exempt = [
  [/^src\/web\//, "runs in a browser, where a throw ends nothing"],
  [/^src\/domain\/kernel\/assembly\//, "AssemblyScript"],
  [/^src\/adapters\/sandbox\/child\//, "a process for one tenant's programs: a throw ends it, and its parent answers"],
  [/^src\/adapters\/storage\/store-scan-process\.ts$/, "a process that reads one store: its parent tells how it ended"],
  [/^src\/actors\/backup\//, "a process that makes one backup: its parent tells how it ended"],
  [/^src\/vedette\.ts$/, "the parent of the server: it has nothing to lose but its last line"],
  [/^src\/cli\/(?!(serve|start-report)\.ts$)/, "commands of a person at a terminal: a throw ends the command with its message"],
  [/^src\/commands\.ts$/, "commands of a person at a terminal"],
];

const registers = new Set([
  "on",
  "once",
  "addListener",
  "prependListener",
  "prependOnceListener",
  "addEventListener",
  "onAborted",
  "onData",
  "onWritable",
  "filter",
  "any",
]);
/** Of uWebSockets.js; arrays have methods of the same names. */
const nativeOnly = new Set(["filter", "any"]);
const scheduled = new Set(["setTimeout", "setInterval", "setImmediate", "queueMicrotask"]);
/** They return a promise, or call before they return. */
const waits = /^(node:timers\/promises|node:fs\/promises|node:util|node:test|node:assert)$/;

function main() {
  const config = ts.readConfigFile("tsconfig.json", ts.sys.readFile).config;
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, ".");
  const program = ts.createProgram(fileNames, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const findings = [];
  let files = 0;
  for (const source of program.getSourceFiles()) {
    const path = relative(process.cwd(), source.fileName).replaceAll("\\", "/");
    if (!path.startsWith("src/") || path === guard || exempt.some(([pattern]) => pattern.test(path))) continue;
    files += 1;
    findings.push(...findIn(source, path, checker));
  }
  for (const { path, line, reason } of findings) console.log(`${path}:${line} ${reason}`);
  if (files === 0) throw new Error("no file of src was read");
  console.log(findings.length === 0 ? `listeners: all of ${files} files go through ${guard}` : `${findings.length} findings`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}

function findIn(source, path, checker) {
  const findings = [];
  const fromNode = nodeImports(source);
  const report = (node, reason) => {
    findings.push({ path, line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1, reason });
  };
  const visit = (node) => {
    const reason = reasonAgainst(node, fromNode, checker);
    if (reason !== undefined) report(node, reason);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

/** Names that a file imports from Node's modules, but from those whose functions take no callbacks. */
function nodeImports(source) {
  const names = new Set();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || statement.importClause?.isTypeOnly) continue;
    const from = statement.moduleSpecifier.text;
    if (!from.startsWith("node:") || waits.test(from)) continue;
    const { namedBindings } = statement.importClause ?? {};
    if (namedBindings && ts.isNamedImports(namedBindings))
      for (const { name, isTypeOnly } of namedBindings.elements) if (!isTypeOnly) names.add(name.text);
  }
  return names;
}

function reasonAgainst(node, fromNode, checker) {
  if (ts.isIdentifier(node) && scheduled.has(node.text) && isGlobal(node))
    return `${node.text}: take after, every, afterTurn, turnEnd or sleep of ${guard}`;
  if (ts.isPropertyAccessExpression(node) && node.name.text === "nextTick" && node.expression.getText() === "process")
    return "process.nextTick: take afterTurn";
  if (ts.isNewExpression(node) && ["Worker", "WebSocket", "EventSource"].includes(node.expression.getText())) {
    return node.getSourceFile().fileName.endsWith("adapters/threads/threads.ts")
      ? undefined
      : `new ${node.expression.getText()}: take adapters/threads/threads.ts`;
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isPropertyAccessExpression(node.left)) {
    if (/^on(message|error|close|open)$/.test(node.left.name.text)) return `.${node.left.name.text} =: take listen`;
  }
  if (ts.isVoidExpression(node) && isPromise(node.expression, checker)) return "void of a promise: take background";
  if (ts.isExpressionStatement(node) && !isStored(node.expression) && isPromise(node.expression, checker))
    return "a promise that nobody waits for: take background";
  if (ts.isCallExpression(node)) return reasonAgainstCall(node, fromNode, checker);
  return undefined;
}

function reasonAgainstCall(node, fromNode, checker) {
  const { expression, arguments: values } = node;
  if (ts.isIdentifier(expression) && fromNode.has(expression.text) && values.some(mayThrow)) {
    return isCalledAtOnce(expression.text) ? undefined : `a callback of ${expression.text}: take guarded`;
  }
  if (!ts.isPropertyAccessExpression(expression)) return undefined;
  const name = expression.name.text;
  if (registers.has(name) && !ts.isPrivateIdentifier(expression.name) && values.some(mayThrow)) {
    if (nativeOnly.has(name) && !isNative(expression.expression, checker)) return undefined;
    return `.${name}(: take listen or listenOnce, or guarded`;
  }
  if (
    ["listen", "listen_unix", "setTimeout", "close", "end", "write"].includes(name) &&
    isEmitter(expression.expression, checker) &&
    values.some(mayThrow)
  ) {
    return `a callback of .${name}(: take guarded`;
  }
  return undefined;
}

/** Functions that run their callback before they return, or whose callback is asked and not told. */
function isCalledAtOnce(name) {
  return /Sync$/.test(name) || name === "promisify";
}

/** A callback that could throw: not one that the guard has wrapped, nor a promise's own two, nor one that does nothing. */
function mayThrow(value) {
  if (ts.isIdentifier(value)) return ["onEnded"].includes(value.text);
  if (!ts.isArrowFunction(value) && !ts.isFunctionExpression(value)) return false;
  const { body } = value;
  if (ts.isBlock(body)) return body.statements.length > 0;
  return body.getText() !== "undefined" && !isSettling(body);
}

/** `() => resolve()`, `(error) => reject(error)`. */
function isSettling(body) {
  return ts.isCallExpression(body) && /^(resolve|reject|settle)$/.test(body.expression.getText());
}

/** Whether a name is the global function, and neither a member nor a declaration nor an import of that name. */
function isGlobal(node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return parent.expression.getText() === "globalThis";
  if (ts.isTypeQueryNode(parent) || ts.isImportSpecifier(parent)) return false;
  return !(("name" in parent && parent.name === node) || (ts.isPropertyAssignment(parent) && parent.name === node));
}

function isPromise(expression, checker) {
  let inner = expression;
  while (ts.isParenthesizedExpression(inner)) inner = inner.expression;
  if (ts.isVoidExpression(inner) || !isCallLike(inner)) return false;
  const type = checker.getTypeAtLocation(inner);
  const parts = type.isUnion() ? type.types : [type];
  return parts.some((part) => part.getProperty?.("then") !== undefined);
}

/** `this.#opening = open()`, or one whose failure was decided to be nothing: `.catch(() => undefined)`. */
function isStored(expression) {
  if (ts.isBinaryExpression(expression)) return true;
  if (!ts.isCallExpression(expression) || !ts.isPropertyAccessExpression(expression.expression)) return false;
  return expression.expression.name.text === "catch" && expression.arguments.length === 1 && !mayThrow(expression.arguments[0]);
}

function isCallLike(node) {
  return (
    ts.isCallExpression(node) ||
    ts.isNewExpression(node) ||
    ts.isBinaryExpression(node) ||
    ts.isConditionalExpression(node) ||
    ts.isPropertyAccessExpression(node) ||
    ts.isIdentifier(node)
  );
}

function isEmitter(expression, checker) {
  return checker.getTypeAtLocation(expression).getProperty?.("removeListener") !== undefined;
}

function isNative(expression, checker) {
  return /^Uws/.test(checker.typeToString(checker.getTypeAtLocation(expression)));
}

main();
