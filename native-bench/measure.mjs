// Statistics of repeated turns, and what Linux tells of processes and of the machine.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

/** Clock ticks a second of /proc; Linux shows 100 to user space on every architecture we run on. */
export const ticksPerSecond = 100;
const pageBytes = 4096;

export function median(/** @type {number[]} */ values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median, smallest and largest. */
export function spread(/** @type {number[]} */ values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Ratio of each turn to the turn of the same repeat: never of medians of different moments. */
export function ratios(/** @type {number[]} */ numerators, /** @type {number[]} */ denominators) {
  return numerators.map((value, repeat) => value / denominators[repeat]);
}

/** Ticks that all cores were busy since boot: user, nice, system, irq, softirq. */
export function cpuTicks() {
  const fields = allCoresTicks();
  return fields[0] + fields[1] + fields[2] + fields[5] + fields[6];
}

/** Ticks that all cores were stolen since boot: they had something to do, and the hypervisor gave them to others. */
export function stolenTicks() {
  return allCoresTicks()[7];
}

/** Of all cores together: user, nice, system, idle, iowait, irq, softirq, steal, ... */
function allCoresTicks() {
  return readFileSync("/proc/stat", "utf8").split("\n", 1)[0].trim().split(/\s+/).slice(1).map(Number);
}

/** CPU time of a process with all its threads, user and system; resolution 10 ms. */
export function procCpuSeconds(/** @type {number} */ pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** CPU time of the threads that a process has now, in nanoseconds' steps: for what takes less than a second. */
export function threadsCpuMs(/** @type {number} */ pid) {
  const ids = readdirSync(`/proc/${pid}/task`);
  return ids.reduce((sum, id) => sum + Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ", 1)[0]) / 1e6, 0);
}

/** Resident bytes of a process. */
export function procRssBytes(/** @type {number} */ pid) {
  return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * pageBytes;
}

/** Lines that describe machine and versions, for the head of the results. */
export function machine() {
  const processors = cpus();
  return [
    `- Processor: ${processors.length} x ${processors[0]?.model.trim()}${virtualisation()}`,
    `- Memory: ${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    `- System: Linux ${release()}, ${distribution()}`,
    `- Node ${process.version}; ${firstLine("g++", ["--version"]) ?? "no g++"}`,
  ];
}

function virtualisation() {
  return /^flags.*\bhypervisor\b/m.test(readFileSync("/proc/cpuinfo", "utf8")) ? ", virtual machine" : "";
}

function distribution() {
  try {
    return /^PRETTY_NAME="(.*)"/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "unknown distribution";
  } catch {
    return "unknown distribution";
  }
}

/** First line that a command prints; undefined where it cannot be run. */
export function firstLine(/** @type {string} */ command, /** @type {string[]} */ args) {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).split("\n", 1)[0];
  } catch {
    return undefined;
  }
}

/** A number with about three digits, thousands with commas. */
export function shown(/** @type {number} */ value) {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return String(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

/** "median (min-max)". */
export function shownSpread(/** @type {number[]} */ values) {
  const { median: middle, min, max } = spread(values);
  return values.length === 1 ? shown(middle) : `${shown(middle)} (${shown(min)}-${shown(max)})`;
}

/** "min-max", or the one value that all are. */
export function shownRange(/** @type {number[]} */ values) {
  const [least, most] = [shown(Math.min(...values)), shown(Math.max(...values))];
  return least === most ? least : `${least}-${most}`;
}

/** A markdown table. */
export function table(/** @type {string[]} */ header, /** @type {string[][]} */ rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}
