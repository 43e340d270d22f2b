// The page of results: machine, versions, method, then one table a row.
import { execFileSync } from "node:child_process";
import { machine, median, shown, shownSpread, table } from "./measure.mjs";
import { SERVERS } from "./servers/server-kinds.mjs";
import { BUSY } from "./turns.mjs";

/**
 * @typedef {object} RowReport
 * @property {import("./turns.mjs").Row} row
 * @property {import("./turns.mjs").RowResult} [result]
 * @property {string} [fault]       why the row has no result
 * @property {number} repeats
 * @property {number} seconds
 * @property {number} bodiesSeconds of these, for bodies that no row before had made
 * @property {import("./stolen-time.mjs").Disturbance} stolen
 * @property {string[]} commands    command lines of its servers and programs
 */

const MISSED = "**bar missed**";

/** Says how a line stands to its bar and goal; "" for a line that is not judged. */
export function verdict(/** @type {import("./turns.mjs").Line} */ { values, ratio, bar, goal, lowerIsBetter = false }) {
  if (bar === undefined && goal === undefined) return "";
  const middle = median(ratio?.values ?? values);
  const reaches = (mark) => mark !== undefined && (lowerIsBetter ? middle <= mark : middle >= mark);
  if (reaches(goal)) return "goal met";
  if (bar === undefined) return "goal missed";
  return reaches(bar) ? "bar met" : MISSED;
}

/** How many lines of all rows have a bar, and which miss it: row and label. */
export function judgedLines(/** @type {RowReport[]} */ reports) {
  const lines = reports.flatMap(({ row, result }) => (result?.lines ?? []).map((line) => ({ row, line })));
  const judged = lines.filter(({ line }) => line.bar !== undefined);
  const missed = judged.filter(({ line }) => verdict(line) === MISSED);
  return { judged: judged.length, missed: missed.map(({ row, line }) => `${row.name}: ${line.label}`) };
}

/** The table of one row in markdown. */
export function rowTable(/** @type {import("./turns.mjs").RowResult} */ { lines }) {
  const mark = (value, lowerIsBetter) => (value === undefined ? "" : `${lowerIsBetter ? "at most " : ""}${shown(value)}`);
  const cells = lines.map((line) => {
    const ratio = line.ratio ? `${shownSpread(line.ratio.values)} of ${line.ratio.against}` : "";
    const marks = [mark(line.bar, line.lowerIsBetter), mark(line.goal, line.lowerIsBetter), verdict(line)];
    return [line.label, shownSpread(line.values), line.unit, ratio, ...marks, line.note ?? ""];
  });
  const header = ["", "median (min-max)", "unit", "ratio", "bar", "goal", "", "conditions"];
  const kept = header.map((_, column) => column < 3 || cells.some((row) => row[column] !== ""));
  const keep = (row) => row.filter((_, column) => kept[column]);
  return table(keep(header), cells.map(keep));
}

/** One row as a section. */
export function rowSection(/** @type {RowReport} */ { row, result, fault, seconds, commands }) {
  const parts = [`## ${row.name}`, `${row.what[0].toUpperCase()}${row.what.slice(1)}.`];
  if (fault !== undefined) parts.push(`**Not measured:** ${fault}`);
  if (result !== undefined && result.lines.length > 0) parts.push(rowTable(result));
  for (const line of result?.notMeasured ?? []) parts.push(`Not measured: ${line}`);
  parts.push(`${seconds.toFixed(0)} s. Alone: \`node native-bench/bench.mjs --only ${row.name}\``);
  if (commands.length > 0) parts.push(`\`\`\`\n${commands.join("\n")}\n\`\`\``);
  return parts.join("\n\n");
}

/** The whole page. */
export function page(/** @type {RowReport[]} */ reports, { repeats, quick, command, startedAt, seconds, rows }) {
  const versions = Object.values(SERVERS).flatMap(({ version }) => (version ? [`- ${version}`] : []));
  return [
    `# Benches of ${startedAt.toISOString().slice(0, 10)}`,
    `\`${command}\`, begun ${startedAt.toISOString().slice(11, 16)} UTC, took ${minutesText(seconds)}, commit ${commit()}.`,
    ...brokenOff(reports, rows),
    [...machine(), ...versions].join("\n"),
    `Servers run on core 0, the sender on core 1, unless a row says otherwise. Contestants take turns, in some rows by rounds of seconds, repeats: ${repeats}${quick ? " (quick)" : ""}${repeatsNote(reports, repeats)}; each turn or repeat begins with an ` +
      "empty data folder; what a row calls left out is in no number of it. A ratio is of the two turns of one repeat. Every answer was 2xx and every " +
      "server's own count of new samples equalled what was sent, else the row fails. Sender and servers have scheduler groups of their own with a " +
      "nice of -15 where the system allows it. The method is in [README.md](../README.md).",
    ...busyWarning(reports),
    ...stolenWarning(reports),
    overview(reports),
    missedText(reports),
    ...notMeasured(reports),
    ...reports.map(rowSection),
    ...times(reports, seconds),
  ].join("\n\n");
}

/** Stands in a page until its last row: what a run leaves that ends before. */
function brokenOff(reports, rows) {
  return reports.length === rows ? [] : [`**Broken off behind row ${reports.length} of ${rows}.**`];
}

/** Such as "3 of 40 bars are missed: ...". */
export function missedText(/** @type {RowReport[]} */ reports) {
  const { judged, missed } = judgedLines(reports);
  return `${missed.length} of ${judged} bars are missed${missed.length === 0 ? "" : `: ${missed.join("; ")}`}.`;
}

/** Which rows ran less often. */
function repeatsNote(reports, repeats) {
  const fewer = reports.filter((report) => report.repeats < repeats).map(({ row }) => row.name);
  return fewer.length === 0 ? "" : `, but once, because it was late, for ${fewer.join(", ")}`;
}

/** Such as "41 min 12 s". */
export function minutesText(/** @type {number} */ seconds) {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** How long each row took: for who waits for the next run, or wants to shorten it. */
function times(reports, seconds) {
  const cells = reports.map(({ row, repeats, seconds: all, bodiesSeconds, stolen }) =>
    [row.name, repeats, all.toFixed(0), bodiesSeconds.toFixed(0), stolen.repeated, shown(stolen.stolenCoresMost)].map(String),
  );
  return [
    "## Time",
    `All of it took ${minutesText(seconds)}.`,
    table(["row", "repeats", "s", "of these for bodies", "turns taken again", "cores stolen at most"], cells),
  ];
}

function overview(reports) {
  const judged = reports.flatMap(({ row, result, fault }) => {
    if (fault !== undefined) return [[row.name, "", "", "", "", "**failed**"]];
    return (result?.lines ?? []).filter((line) => verdict(line) !== "").map((line) => overviewLine(row, line));
  });
  return table(["row", "what", "median (min-max)", "bar", "goal", ""], judged);
}

function busyWarning(reports) {
  const busy = reports.filter(({ result }) => result?.lines.some(({ note }) => note?.includes(BUSY)));
  if (busy.length === 0) return [];
  return [
    `**Other programs kept the machine busy** during ${busy.map(({ row }) => row.name).join(", ")}: their rates and ratios say little.`,
  ];
}

/** Turns that could not be taken in a quiet moment. */
function stolenWarning(reports) {
  const disturbed = reports.filter(({ stolen }) => stolen.disturbed > 0);
  if (disturbed.length === 0) return [];
  const [repeated, waited] = [sum(reports, "repeated"), sum(reports, "waitedSeconds")];
  const rows = disturbed.map(
    ({ row, stolen }) => `${row.name} (${stolen.disturbed} of ${stolen.turns}, up to ${shown(stolen.stolenCoresMost)})`,
  );
  return [
    `**The hypervisor gave our cores to others**, more than 0.05 of one (0.01 of rounds of answers), in turns of ${rows.join(", ")}. ${shown(repeated)} turns were taken again and ` +
      `${shown(waited)} s were waited for quiet moments; which attempt counts goes by the stolen time alone (\`stolen-time.mjs\`).`,
  ];
}

const sum = (reports, key) => reports.reduce((total, { stolen }) => total + stolen[key], 0);

function notMeasured(reports) {
  const missing = new Set(reports.flatMap(({ row, result, fault }) => (fault ? [`${row.name}: ${fault}`] : result.notMeasured)));
  return missing.size === 0 ? ["Nothing was left out."] : [["Not measured:", "", ...[...missing].map((line) => `- ${line}`)].join("\n")];
}

function overviewLine(row, line) {
  const values = `${shownSpread(line.ratio?.values ?? line.values)}${line.ratio ? "" : ` ${line.unit}`}`;
  const sign = line.lowerIsBetter ? "≤ " : "≥ ";
  const mark = (value) => (value === undefined ? "" : sign + shown(value));
  return [
    row.name,
    line.ratio ? `${line.label} / ${line.ratio.against}` : line.label,
    values,
    mark(line.bar),
    mark(line.goal),
    verdict(line),
  ];
}

function commit() {
  try {
    const git = (...args) => execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
    return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain", "--untracked-files=no") === "" ? "" : " with changes"}`;
  } catch {
    return "unknown";
  }
}
