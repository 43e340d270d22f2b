// Compares figures of benches that documents quote with the newest page in native-bench/results that has their row. A quoted figure is followed by a comment, in a
// page `<!-- bench ROW: LABEL -->`, in a code block `# bench ROW: LABEL`: then it is the median of that line of the row. `ROW: LABEL: WORDS` is a figure of the line's
// conditions, N in WORDS standing for it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pageNames } from "../native-bench/result-file.mjs";

const RESULTS = "native-bench/results";
const QUOTE = /([\d,]*\.?\d+)[^\d]*?(?:<!-- bench ([\w-]+): (.+?) -->|# bench ([\w-]+): (.+)$)/g;
const NUMBER = String.raw`([\d,]*\.?\d+)`;
/** A line that speaks of a row, and so of a figure of it. */
const OF_ROW = /\brows? `([\w-]+)`/;

const numberOf = (text) => Number(text.replaceAll(",", ""));
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The figure that a page has of `label`; undefined where it has no such line. */
export function measuredFigure(page, row, label) {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${row}\n`));
  const line = section
    ?.split("\n")
    .find((text) => text.startsWith("| ") && label.startsWith(cells(text)[0]) && isLabel(cells(text)[0], label));
  if (line === undefined) return undefined;
  const [name, median] = cells(line);
  if (label === name) return numberOf(median.split(" ")[0]);
  const words = label
    .slice(name.length + 2)
    .split("N")
    .map(escaped)
    .join(NUMBER);
  const found = new RegExp(words).exec(line);
  return found === null ? undefined : numberOf(found[1]);
}

const cells = (line) =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
const isLabel = (name, label) => name !== "" && (label === name || label.startsWith(`${name}: `));

/** Whether `quoted`, as it is written, is `measured` with fewer digits. */
export function isRounded(quoted, measured) {
  const decimals = quoted.split(".")[1]?.length ?? 0;
  return Math.abs(numberOf(quoted) - measured) <= 0.5 * 10 ** -decimals + 1e-9;
}

/** What is wrong with the quotes of a document, each in a line. `pages`: texts of pages, newest first. */
export function quoteFaults(text, pages, rowNames) {
  return text.split("\n").flatMap((line, at) => {
    const quotes = [...line.matchAll(QUOTE)];
    const named = OF_ROW.exec(line)?.[1];
    if (quotes.length === 0)
      return named !== undefined && rowNames.has(named) ? [`${at + 1}: a figure of the row ${named} without its comment`] : [];
    return quotes.flatMap(([, quoted, row = "", label = "", codeRow = row, codeLabel = label]) => {
      const measured = pages.map((page) => measuredFigure(page, codeRow, codeLabel)).find((figure) => figure !== undefined);
      if (measured === undefined) return [`${at + 1}: no page has ${codeRow}: ${codeLabel}`];
      return isRounded(quoted, measured) ? [] : [`${at + 1}: ${quoted}, measured was ${measured} (${codeRow}: ${codeLabel})`];
    });
  });
}

function main() {
  const pages = pageNames(readdirSync(RESULTS)).map((name) => readFileSync(join(RESULTS, name), "utf8"));
  const rowNames = new Set(pages.flatMap((page) => [...page.matchAll(/^## ([\w-]+)$/gm)].map(([, name]) => name)));
  const documents = ["README.md", ...readdirSync("docs").map((name) => join("docs", name))].filter((name) => name.endsWith(".md"));
  const texts = documents.map((name) => [name, readFileSync(name, "utf8")]);
  const faults = texts.flatMap(([name, text]) => quoteFaults(text, pages, rowNames).map((fault) => `${name}:${fault}`));
  for (const fault of faults) console.log(fault);
  const count = texts.reduce((sum, [, text]) => sum + [...text.matchAll(new RegExp(QUOTE, "gm"))].length, 0);
  console.log(`quotes: ${count} figures of benches`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

if (import.meta.main ?? process.argv[1]?.endsWith("bench-quotes.mjs")) main();
