// A pattern as a complete table of states: matching is one look-up a character, whatever the pattern says, so its cost is known before it is ever run. re2js reads and
// compiles the pattern (RE2's syntax, without backreferences and lookaround) and says where each state goes; all states are made at once, and a pattern that needs too
// many is refused. Beside the patterns of PromQL (domain/promql/labels) nothing else knows re2js.
import { RE2JS, RE2JSException, RE2Set } from "re2js";
import { PATTERN_CELLS_MAX, PATTERN_PARTS_MAX, PATTERN_VISITS_MAX } from "../../../core/config/pattern-limits.ts";
import { CharacterClasses, LATIN1 } from "./character-classes.ts";

/** Table of a pattern, or the reason for which it was refused, of which nothing else is kept. `visits` are the instructions looked at to make it. */
export type CompiledPattern =
  | { readonly automaton: Automaton; readonly problem: null; readonly visits: number }
  | { readonly automaton: null; readonly problem: string; readonly visits: number };

/** Members of re2js's machine that are read: a state is a set of instructions, and a step goes from one to the next by a class of characters. */
interface MachineState {
  readonly nfaStates: readonly number[];
  readonly isMatch: boolean;
}
interface Machine {
  readonly numClasses: number;
  /** First character of each class but the first. */
  readonly classBounds: Int32Array;
  readonly startStates: ReadonlyMap<number, MachineState>;
  step(state: MachineState, characterClass: number, character: number, anchor: number): MachineState | null;
}
/** A pattern as re2js has read it: a literal's characters, or the ends of a class's ranges, are `runes`. */
interface PatternPart {
  readonly op: number;
  readonly subs: readonly PatternPart[];
  readonly runes: ArrayLike<number>;
  readonly constructor: { readonly Op: { readonly LITERAL: number } };
}

/** Memory of re2js's machine while its states are made; PATTERN_CELLS_MAX is what ends them. */
const MACHINE_BYTES_MAX = 256 * 1024 * 1024;
const END_OF_TEXT = -1;
/** Ends of ranges that count as one part: \pL has 1,300. */
const ENDS_PER_PART = 32;
/** Visits that a step costs besides the instructions of its state. */
const STEP_VISITS = 4;
const ACCEPTS = 1;
const STAYS = 2;
/** A state that is never left ends a text, which is asked once for so many characters. */
const UNITS_BETWEEN_CHECKS = 32;

/** A state is the place of its row; a row has a cell for each class, and one of flags. */
export class Automaton {
  readonly #cells: Uint16Array;
  readonly #flags: number;
  readonly #classes: CharacterClasses;

  /** `flags` is the cell of a row that says what its state is. */
  constructor(cells: Uint16Array, flags: number, classes: CharacterClasses) {
    this.#cells = cells;
    this.#flags = flags;
    this.#classes = classes;
  }

  get bytes(): number {
    return this.#cells.byteLength + this.#classes.bytes;
  }

  /** Whether all of a text matches. */
  matches(text: TextUnits): boolean {
    const state = text.isLatin1 ? this.#endOfLatin1(text.units) : this.#end(text.units);
    return ((this.#cells[state + this.#flags] as number) & ACCEPTS) !== 0;
  }

  /** The state behind a text of Latin 1: two look-ups a character, of which the first waits for nothing. */
  #endOfLatin1(units: Uint16Array): number {
    const cells = this.#cells;
    const classes = this.#classes.latin1;
    let state = 0;
    for (let at = 0; at < units.length; ) {
      const until = Math.min(at + UNITS_BETWEEN_CHECKS, units.length);
      for (; at < until; at++) state = cells[state + (classes[units[at] as number] as number)] as number;
      if (((cells[state + this.#flags] as number) & STAYS) !== 0) break;
    }
    return state;
  }

  /** The same behind any text. */
  #end(units: Uint16Array): number {
    const cells = this.#cells;
    const classes = this.#classes;
    const flags = this.#flags;
    let state = 0;
    for (let at = 0; at < units.length; at++) {
      let character = units[at] as number;
      if (character >= 0xd800 && character <= 0xdbff) {
        const low = units[at + 1] ?? 0;
        if (low >= 0xdc00 && low <= 0xdfff) {
          character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
          at++;
        }
      }
      const next = cells[state + classes.of(character)] as number;
      if (next === state && ((cells[state + flags] as number) & STAYS) !== 0) break;
      state = next;
    }
    return state;
  }
}

/** The code units of a text: read once for many patterns, which saves a fifth of the time that asking the text for each would take. */
export interface TextUnits {
  readonly units: Uint16Array;
  /** All are below 256. */
  readonly isLatin1: boolean;
}

export function unitsOf(text: string): TextUnits {
  const units = new Uint16Array(text.length);
  let all = 0;
  for (let at = 0; at < text.length; at++) all |= units[at] = text.charCodeAt(at);
  return { units, isLatin1: all < LATIN1 };
}

/** Makes the table of a pattern, which is matched as a whole; `.` is any character, line breaks too. */
export function compilePattern(pattern: string): CompiledPattern {
  const read = readPattern(pattern);
  return "problem" in read ? { automaton: null, problem: read.problem, visits: 0 } : tableOf(read.machine);
}

function readPattern(pattern: string): { readonly machine: Machine } | { readonly problem: string } {
  const set = new RE2Set(RE2Set.ANCHOR_BOTH, RE2JS.DOTALL, MACHINE_BYTES_MAX);
  try {
    addTo(set, pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return { problem: error.message.replace("error parsing regexp: ", "").replace("`(?s)", "`").slice(0, 200) };
  }
  const parts = set.regexps.reduce((sum, part) => sum + partsOf(part, PATTERN_PARTS_MAX), 0);
  if (parts > PATTERN_PARTS_MAX) {
    return { problem: `its repetitions written out have more than ${PATTERN_PARTS_MAX} parts; give smaller numbers in {}` };
  }
  set.compile();
  // The first match makes the state that all begin in.
  set.match("");
  return { machine: set.dfa as unknown as Machine };
}

/** Before re2js, a character beyond ASCII could be escaped as well, as patterns that are stored may still have it. */
function addTo(set: RE2Set, pattern: string): void {
  try {
    set.add(pattern);
  } catch (error) {
    const plain = pattern.replace(/\\(.)/gsu, (escaped, character: string) => (character > "\x7f" ? character : escaped));
    if (plain === pattern) throw error;
    set.add(plain);
  }
}

/** Counts until there are more than `most`: repetitions share their parts, so that a small tree may stand for a very large one. */
function partsOf(part: PatternPart, most: number): number {
  const isLiteral = part.op === part.constructor.Op.LITERAL;
  let count = isLiteral ? part.runes.length : 1 + part.runes.length / ENDS_PER_PART;
  for (const sub of part.subs) {
    if (count > most) break;
    count += partsOf(sub, most - count);
  }
  return count;
}

/** Goes through all states that can be reached, each by every class of characters. */
function tableOf(machine: Machine): CompiledPattern {
  const width = machine.numClasses + 1;
  const starts = Int32Array.of(0, ...machine.classBounds);
  const states = [...machine.startStates.values()].slice(0, 1);
  const numbers = new Map(states.map((state, number) => [state, number]));
  const rows: number[][] = [];
  let visits = 0;
  for (let number = 0; number < states.length; number++) {
    const state = states[number] as MachineState;
    const row: number[] = [];
    for (const [characterClass, character] of starts.entries()) {
      const next = machine.step(state, characterClass, character, RE2Set.ANCHOR_BOTH);
      visits += STEP_VISITS + state.nfaStates.length;
      if (next === null || visits > PATTERN_VISITS_MAX || states.length * width > PATTERN_CELLS_MAX) return tooLarge(visits);
      const known = numbers.get(next) ?? states.length;
      if (known === states.length) states.push(next);
      numbers.set(next, known);
      row.push(known);
    }
    const end = machine.step(state, machine.numClasses, END_OF_TEXT, RE2Set.ANCHOR_BOTH);
    if (end === null) return tooLarge(visits);
    row.push((end.isMatch ? ACCEPTS : 0) + (row.every((next) => next === number) ? STAYS : 0));
    rows.push(row);
  }
  return { automaton: automatonOf(rows, starts), problem: null, visits };
}

/** Classes of which every state says the same become one: \pL has 1,300 ranges of characters, and two classes. */
function automatonOf(rows: readonly number[][], starts: Int32Array): Automaton {
  let merged = new Uint16Array(starts.length);
  let count = 1;
  for (const row of rows) {
    const pairs = new Map<number, number>();
    merged = merged.map((before, characterClass) => {
      const pair = before * PATTERN_CELLS_MAX + (row[characterClass] as number);
      const after = pairs.get(pair) ?? pairs.size;
      pairs.set(pair, after);
      return after;
    });
    count = pairs.size;
  }
  const width = count + 1;
  const cells = new Uint16Array(rows.length * width);
  for (const [number, row] of rows.entries()) {
    for (const [characterClass, after] of merged.entries()) cells[number * width + after] = (row[characterClass] as number) * width;
    cells[number * width + count] = row[starts.length] as number;
  }
  const isStart = (index: number): boolean => index === 0 || merged[index] !== merged[index - 1];
  const classes = new CharacterClasses(
    starts.filter((_, index) => isStart(index)),
    merged.filter((_, index) => isStart(index)),
  );
  return new Automaton(cells, count, classes);
}

function tooLarge(visits: number): CompiledPattern {
  const problem = "it can be in too many states at once; give fewer or shorter repetitions behind .* and .{n}, or several matchers";
  return { automaton: null, problem, visits };
}
