// Reads what V8 prints with --trace-gc, and says how much the heaps allocated. A line stands for one collection of one isolate:
//   [pid:isolate]   123 ms: Scavenge 10.4 (10.9) -> 9.8 (12.1) MB, ...
const collection = /^\[\d+:(0x\w+)\]\s+\d+ ms: (?:Scavenge|Mark-Compact|Mark-sweep)[^\d]*([\d.]+) \([\d.]+\) -> ([\d.]+) \([\d.]+\) MB/;

/** The trace of one process. `readLog` returns all that it has printed. */
export class HeapTrace {
  #readLog;
  #markedLines = 0;

  constructor(/** @type {() => string} */ readLog) {
    this.#readLog = readLog;
  }

  /** What was collected before this moment counts no more. */
  mark() {
    this.#markedLines = this.#lines().length;
  }

  /**
   * Allocated since the mark, in MB (10^6 bytes): per isolate the growth from the end of each collection to the start of the next; the growth
   * that the mark falls into counts whole, the one after the last collection not at all. An isolate without a collection before the mark
   * counts from its first.
   * @returns {{allocatedMB: number, byIsolate: number[], collections: number}}
   */
  sinceMark() {
    const isolates = new Map();
    let collections = 0;
    for (const [index, line] of this.#lines().entries()) {
      const [, isolate, before, after] = collection.exec(line) ?? [];
      if (isolate === undefined) continue;
      const state = isolates.get(isolate) ?? { mebibytes: 0, after: Number(before) };
      isolates.set(isolate, state);
      if (index >= this.#markedLines) {
        state.mebibytes += Math.max(0, Number(before) - state.after);
        collections++;
      }
      state.after = Number(after);
    }
    // V8 calls 2^20 bytes a MB.
    const byIsolate = [...isolates.values()].map(({ mebibytes }) => (mebibytes * 2 ** 20) / 1e6);
    return { allocatedMB: byIsolate.reduce((sum, each) => sum + each, 0), byIsolate, collections };
  }

  /** Whole lines only: the last may still be on its way. */
  #lines() {
    return this.#readLog().split("\n").slice(0, -1);
  }
}
