// Stack traces that name sources: each thread runs from one file that its modules were joined to, and a line of that tells nobody where to look.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";

const POSITION = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/;
const PACKAGES = "/node_modules/";
const maps = new Map<string, SourceMap | null>();

/** Has traces of this thread name src/ where a map lies beside the file that runs. A map is read when a trace is first asked for. */
export function nameSources(): void {
  Error.prepareStackTrace = (error, frames) => [headOf(error), ...frames.map((frame) => `    at ${ofSource(String(frame))}`)].join("\n");
}

function headOf(error: Error): string {
  try {
    return String(error);
  } catch {
    return "Error"; // its own name cannot be read
  }
}

function ofSource(frame: string): string {
  return frame.replace(POSITION, (built, file: string, line: string, column: string) => {
    const found = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (found === undefined || !("originalSource" in found)) return built;
    return `${found.originalSource.replace(/^(\.\.\/)+/, "")}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
}

function mapOf(file: string): SourceMap | null {
  if (file.includes(PACKAGES)) return null;
  let map = maps.get(file);
  if (map === undefined) {
    map = readMap(file);
    maps.set(file, map);
  }
  return map;
}

function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), "utf8")));
  } catch {
    return null; // there is none: the built file is named
  }
}
