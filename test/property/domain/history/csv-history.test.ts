// CSV with quotes anywhere, line ends of both kinds, a byte order mark, empty cells, and in pieces: rows are what a slow reader of the whole text says,
// and each row that was written is imported or named.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IMPORT_LINE_LENGTH_MAX } from "../../../../src/core/config/limits.ts";
import { CsvHistory } from "../../../../src/domain/history/csv-history.ts";
import { HistoryCollector } from "../../../../src/domain/history/history-collector.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const HEADER = "timestamp,service_id,metric_name,value,note,unit";

interface Read {
  readonly imported: ReadonlyArray<readonly [value: number, note: string, unit: string]>;
  readonly refused: readonly string[];
}

function read(text: string, cuts: readonly number[] = []): Read {
  const collector = new HistoryCollector({ nowMs: NOW_MS, samplesMax: 10_000 });
  const csv = new CsvHistory(collector);
  let from = 0;
  for (const cut of [...cuts.map((share) => Math.floor(share * text.length)).sort((a, b) => a - b), text.length]) {
    csv.push(text.slice(from, cut));
    from = cut;
  }
  csv.end();
  const imported = collector.finish().flatMap(({ attributes, values, length }) => {
    const { note = "", unit = "" } = attributes as { note?: string; unit?: string };
    return [...values.subarray(0, length)].map((value) => [value, note, unit] as const);
  });
  return { imported: imported.sort((a, b) => a[0] - b[0]), refused: collector.problems.map(({ at }) => at) };
}

/** The cells of the row that lines[at] begins, and how many lines it has; undefined where it is at fault. One character at a time. */
function slowRow(lines: readonly string[], at: number): { cells: string[]; lines: number } | undefined {
  const text = lines.slice(at).join("\n");
  const cells: string[] = [];
  let cell = "";
  let state: "start" | "plain" | "quoted" | "closed" = "start";
  for (let i = 0; ; i++) {
    const character = text[i];
    const isEnd = character === undefined || character === "\n" || (character === "\r" && (text[i + 1] === "\n" || i + 1 === text.length));
    if (state === "quoted") {
      if (character === undefined) return undefined;
      if (character === '"' && text[i + 1] === '"') {
        cell += '"';
        i++;
      } else if (character === '"') state = "closed";
      else cell += character;
    } else if (isEnd) return { cells: [...cells, cell], lines: text.slice(0, i).split("\n").length };
    else if (character === ",") {
      cells.push(cell);
      cell = "";
      state = "start";
    } else if (state === "closed") return undefined;
    else if (character === '"' && state === "start") state = "quoted";
    else {
      cell += character;
      state = "plain";
    }
  }
}

/** What a slow reader makes of the whole text: rows of six cells with a number are imported, of all others the line is named. */
function slowRead(text: string): Read {
  const lines = text.replace(/^\ufeff/, "").split("\n");
  const imported: Array<readonly [number, string, string]> = [];
  const refused: string[] = [];
  for (let at = 1; at < lines.length; ) {
    const line = lines[at] as string;
    const row = line.includes('"') ? slowRow(lines, at) : { cells: line.replace(/\r$/, "").split(","), lines: 1 };
    const cells = row?.cells.length === 6 ? row.cells : undefined;
    if (/^\r?$/.test(line)) at++;
    else if (row === undefined || cells === undefined) {
      refused.push(`line ${at + 1}`);
      at++;
    } else {
      if (/^\d+$/.test(cells[3] as string)) imported.push([Number(cells[3]), cells[4] as string, cells[5] as string]);
      else refused.push(`line ${at + 1}`);
      at += row.lines;
    }
  }
  return { imported: imported.sort((a, b) => a[0] - b[0]), refused };
}

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
const lineEnd = fc.constantFrom("\n", "\r\n");
const mark = fc.constantFrom("", "\ufeff");
const start = (row: number) => `${NOW_MS - row * 1000},s,m`;

describe("a CSV with quotes", () => {
  it("reads as a slow reader reads it, in whatever pieces it comes", () => {
    const token = fc.constantFrom('"', '"', '""', ",", "a", " ", "\n", "\r\n", "\r");
    const cell = fc.array(token, { maxLength: 5 }).map((tokens) => tokens.join(""));
    const row = fc.tuple(cell, cell, fc.constantFrom("", ",", '"'), lineEnd);
    fc.assert(
      fc.property(fc.array(row, { maxLength: 12 }), mark, cuts, (rows, byteOrder, where) => {
        const text = rows.map(([note, unit, more, end], i) => `${start(i)},${i},${note},${unit}${more}${end}`).join("");
        const whole = `${byteOrder}${HEADER}\n${text}`;
        expect(read(whole, where)).toEqual(slowRead(whole));
      }),
      { numRuns: 600 },
    );
  });

  it("loses no row: as many as were written are imported or named", () => {
    const content = fc.constantFrom("", "a", '6" pipe', '"', '""', "a,b", "two\nlines", "x\r\ny", ' "quoted"', "ends with \r");
    const quoted = content.map((text) => `"${text.replaceAll('"', '""')}"`);
    const plain = fc.constantFrom("", "a", '6" pipe', 'a"', 'say ""', ' "quoted"', "é");
    const value = fc.constantFrom("1", "2.5e1", " 3 ", '"4"', "", " ", "0x10", "NaN", "x", '5"');
    const row = fc.tuple(value, fc.oneof(quoted, plain), fc.oneof(quoted, plain), fc.constantFrom("", "", "", ",more"), lineEnd);
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), mark, cuts, (rows, byteOrder, where) => {
        // A row of too many cells is named with each of its lines: let those have one.
        const written = rows.filter(([, note, unit, more]) => more === "" || !/\n/.test(note + unit));
        const text = written.map(([number, note, unit, more, end], i) => `${start(i)},${number},${note},${unit}${more}${end}`).join("");
        const { imported, refused } = read(`${byteOrder}${HEADER}\r\n${text}`, where);
        expect(imported.length + refused.length).toBe(written.length);
      }),
      { numRuns: 400 },
    );
  });

  it("is the same on both sides of the longest row, in one piece and in two", () => {
    for (const longer of [-2, -1, 0, 1, 2]) {
      const head = `${start(0)},1,u,"`;
      const row = `${head}${"\n".repeat(IMPORT_LINE_LENGTH_MAX - head.length + longer - 1)}"`;
      const text = `${HEADER}\n${row}\n${start(1)},2,n,u\n`;
      const whole = read(text);
      expect(whole.imported.at(-1)).toEqual([2, "n", "u"]);
      for (const tail of [1, 2, 3, 20, 25]) expect(read(text, [(text.length - tail + 0.5) / text.length])).toEqual(whole);
    }
  });
});
