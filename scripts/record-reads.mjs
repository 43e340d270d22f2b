// Finds where a plain object is asked, or given a member, by a name that is not known when the code is written: such a name may be a client's, and `constructor` or
// `__proto__` then meets Object.prototype. Reads go through `ownMember` of core/collections/own-member.ts or a Map; writes through `setMember`, to a Map or by
// Object.fromEntries. Prints a line a finding; exits with 1 if there is any.
import ts from "typescript";

/** The one home of such reads. */
const home = "src/core/collections/own-member.ts";
const kinds = {
  read: "read by any name: ask `ownMember` or a Map",
  write: "written by any name: use `setMember`, a Map or Object.fromEntries",
  in: "`in` with any name: ask Object.hasOwn",
};

function main() {
  const config = ts.getParsedCommandLineOfConfigFile("tsconfig.json", {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail });
  const program = ts.createProgram(config.fileNames, { ...config.options, noEmit: true });
  const checker = program.getTypeChecker();
  const files = program.getSourceFiles().filter(isOurs);
  const findings = files.flatMap((file) => findingsOf(file, checker));
  for (const finding of findings.sort()) console.log(finding);
  console.log(findings.length === 0 ? `records: ${files.length} files ask none by any name` : `${findings.length} findings`);
  process.exitCode = findings.length === 0 && files.length > 0 ? 0 : 1;
}

function fail(diagnostic) {
  throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
}

function isOurs({ fileName, isDeclarationFile }) {
  return !isDeclarationFile && fileName.includes("/src/") && !fileName.includes("/generated/") && !fileName.endsWith(home);
}

function findingsOf(file, checker) {
  const findings = [];
  const visit = (node) => {
    const kind = kindOf(node, checker);
    if (kind !== undefined) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      const text = node.getText(file).replace(/\s+/g, " ").slice(0, 100);
      findings.push(`${file.fileName.replace(`${process.cwd()}/`, "")}:${line + 1} ${kinds[kind]}: ${text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return findings;
}

/** What a node does by a name that may be anything; undefined where it does not. */
function kindOf(node, checker) {
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword) {
    return isAnyText(checker.getTypeAtLocation(node.left)) ? "in" : undefined;
  }
  if (ts.isBindingElement(node) && node.propertyName !== undefined && ts.isComputedPropertyName(node.propertyName)) {
    return isAnyText(checker.getTypeAtLocation(node.propertyName.expression)) ? "read" : undefined;
  }
  if (!ts.isElementAccessExpression(node) || !isAnyText(checker.getTypeAtLocation(node.argumentExpression))) return undefined;
  if (ts.isDeleteExpression(node.parent)) return undefined;
  return isAssigned(node) ? "write" : "read";
}

function isAssigned(node) {
  const { parent } = node;
  return ts.isBinaryExpression(parent) && parent.left === node && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

/** Whether an index is any text: no number, no symbol, and none of a few that are known. */
function isAnyText(type) {
  const parts = type.isUnion() ? type.types : [type];
  return parts.some(({ flags }) => (flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral | ts.TypeFlags.Any)) !== 0);
}

main();
