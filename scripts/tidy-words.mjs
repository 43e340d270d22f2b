// Words that have a home: the real clock, chance, the environment, threads and the console stay in the folders that own them.
import ts from "typescript";

const machine = /^src\/(adapters\/(platform|threads)\/|main\.ts$|web\/(live|state)\/)/;
const environment = /^src\/(adapters\/platform\/|(main|vedette)\.ts$)/;
const threads = /^src\/(adapters\/(platform|shared-memory|threads)|domain\/kernel|web\/live)\//;
const terminal = /^src\/((cli|server)\/|adapters\/sandbox\/child\/|main\.ts$)/;

/** `object.name`, or the whole object where name is missing; `home` is where in src it may stand. */
const words = [
  { object: "Date", name: "now", home: machine, instead: "take the time as an argument" },
  { object: "performance", name: "now", home: machine, instead: "take the time as an argument" },
  { object: "process", name: "hrtime", home: machine, instead: "take the time as an argument" },
  { object: "Math", name: "random", home: machine, instead: "take the random source as an argument" },
  { object: "process", name: "env", home: environment, instead: "main.ts hands the environment to core/config" },
  { object: "Atomics", home: threads, instead: "use adapters/threads or adapters/shared-memory" },
  { object: "console", home: terminal, instead: "emit an event" },
];

/** Returns {path, line, reason} for each word outside its home in src, and for each test switched off or singled out in test. */
export function findWords({ path, source }) {
  const findings = [];
  const report = (node, reason) => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    findings.push({ path, line, reason });
  };
  const check = path.startsWith("src/") ? checkSource : path.startsWith("test/") ? checkTest : undefined;
  if (!check) return findings;
  const visit = (node) => {
    check(node, path, report);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

function checkSource(node, path, report) {
  for (const { object, name, home, instead } of words) {
    if (!home.test(path) && isWord(node, object, name)) report(node, `${name ? `${object}.${name}` : object} outside its home: ${instead}`);
  }
  if (!threads.test(path) && ts.isIdentifier(node) && node.text === "postMessage") {
    report(node, "postMessage outside its home: use adapters/threads");
  }
  if (!machine.test(path) && ts.isNewExpression(node) && isIdentifier(node.expression, "Date") && !node.arguments?.length) {
    report(node, "new Date() reads the clock outside its home: take the time as an argument");
  }
}

/** Matches `object.name`, `object["name"]`, `globalThis.object.name`, `const { name } = object`, and any use of a whole object. */
function isWord(node, object, name) {
  if (!name) return isIdentifier(node, object) && !isOwnName(node);
  if (ts.isPropertyAccessExpression(node)) return node.name.text === name && namesObject(node.expression, object);
  if (ts.isElementAccessExpression(node)) {
    return ts.isStringLiteralLike(node.argumentExpression) && node.argumentExpression.text === name && namesObject(node.expression, object);
  }
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && node.initializer) {
    return (
      namesObject(node.initializer, object) && node.name.elements.some((element) => (element.propertyName ?? element.name).text === name)
    );
  }
  return false;
}

function isIdentifier(node, text) {
  return ts.isIdentifier(node) && node.text === text;
}

function namesObject(node, object) {
  return isIdentifier(node, object) || (ts.isPropertyAccessExpression(node) && node.name.text === object);
}

/** `log.console` or `{ console: 1 }` name a property of something else; `globalThis.console` does not. */
function isOwnName(node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return !isIdentifier(parent.expression, "globalThis");
  return (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) && parent.name === node;
}

function checkTest(node, _path, report) {
  if (!ts.isPropertyAccessExpression(node)) return;
  const root = rootName(node);
  if (!["it", "test", "describe", "suite"].includes(root)) return;
  if (node.name.text === "only") report(node, `${root}.only leaves the other tests out`);
  if (node.name.text === "skip" || node.name.text === "todo") report(node, `${root}.${node.name.text}: repair or delete the test`);
}

/** The first name of a chain such as `it.concurrent.each(table).skip`. */
function rootName(node) {
  let inner = node;
  while (ts.isPropertyAccessExpression(inner) || ts.isCallExpression(inner)) inner = inner.expression;
  return ts.isIdentifier(inner) ? inner.text : "";
}
