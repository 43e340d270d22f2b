/**
 * Goes over every page and value of an LMDB data file and says what cannot be: pages that are not where they are said to be, that two use or that are free as well,
 * keys out of order, trees that hold less than they count, values that are not what their seal says. What it finds in order LMDB can read, and reads as it was written.
 *
 * It reads with pread alone (lmdb-file.ts) and ends with a list, whatever the bytes are. About 1 s a GiB where the file is cached.
 */
import {
  FileDamage,
  FLAG_BRANCH,
  FLAG_LEAF,
  FLAG_OVERFLOW,
  LmdbFile,
  NO_PAGE,
  PAGE_HEADER_BYTES,
  type PageTree,
  readTree,
  readWord,
  type Snapshot,
  TREE_BYTES,
} from "./lmdb-file.ts";
import { keyText, SEALED_TABLE, TableSeal } from "./value-seal.ts";

/** Damage: a value, a page of a table, or what all tables stand on. */
export interface StoreFinding {
  readonly table: string | undefined;
  readonly what: string;
}

/** Rows of a table that are whole, and values that are not. */
export interface TableCount {
  rows: number;
  damaged: number;
}

/** Findings of a scan. */
export interface StoreScan {
  readonly bytes: number;
  readonly tables: ReadonlyMap<string, TableCount>;
  /** Whether all values must have a seal: the store says so. */
  readonly isSealed: boolean;
  /** The first FINDINGS_MAX of them. */
  readonly findings: readonly StoreFinding[];
  readonly findingCount: number;
}

/** Where rows that are whole go; both are valid during the call only. */
export type RowTaker = (table: string, key: Uint8Array, value: Uint8Array) => void;

export interface StoreScanOptions {
  /** Every table that there may be; the store's own is always among them. */
  readonly tables: readonly string[];
  readonly takeRow?: RowTaker;
  /** Whether to go on behind what is damaged, for all that can still be read. */
  readonly isThorough?: boolean;
}

const FINDINGS_MAX = 20;
const NODE_HEADER_BYTES = 8;
const NODE_OVERFLOW = 1;
const NODE_TREE = 2;
const OVERFLOW_RECORD_BYTES = 24;
/** Deeper than any tree of 2^48 pages. */
const DEPTH_MAX = 32;
const MAIN = "the table of tables";
const FREE = "the list of free pages";

/** Scans one file. Throws the system's error where it cannot be opened or read. */
export function scanStore(path: string, options: StoreScanOptions): StoreScan {
  const file = new LmdbFile(path);
  try {
    return new Walker(file, options).scan();
  } finally {
    file.close();
  }
}

interface Node {
  readonly flags: number;
  readonly key: Buffer;
  /** Bytes of the value, or the child's page. */
  readonly word: number;
  readonly body: Buffer;
}

interface TreeCount {
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
}

/** Tree that is being scanned. */
interface Tree {
  readonly name: string;
  readonly record: PageTree;
  readonly count: TreeCount;
  readonly compare: (a: Buffer, b: Buffer) => number;
  readonly take: (node: Node) => void;
}

/** Keys of a page: from `from` on, below `to`. */
interface KeyBounds {
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
}

class Walker {
  readonly #file: LmdbFile;
  readonly #options: StoreScanOptions;
  readonly #pages: Buffer[] = [];
  readonly #findings: StoreFinding[] = [];
  readonly #tables = new Map<string, TableCount>();
  #findingCount = 0;
  #isSealed = false;
  #snapshot!: Snapshot;
  /** A bit for each page that a tree has, then for each that is free. */
  #used!: Uint8Array;
  #large = Buffer.alloc(0);

  constructor(file: LmdbFile, options: StoreScanOptions) {
    this.#file = file;
    this.#options = options;
  }

  scan(): StoreScan {
    this.#try(undefined, () => this.#scan());
    const { bytes } = this.#file;
    return { bytes, tables: this.#tables, isSealed: this.#isSealed, findings: this.#findings, findingCount: this.#findingCount };
  }

  #scan(): void {
    this.#snapshot = this.#file.snapshot();
    const { lastPage, pageBytes, tables, free } = this.#snapshot;
    const pagesThere = Math.floor(this.#file.bytes / pageBytes);
    if (lastPage >= pagesThere) throw new FileDamage(`the file has ${pagesThere} pages, and its last transaction ${lastPage + 1}`);
    this.#used = new Uint8Array((lastPage >> 3) + 1);
    this.#mark(0, 2);
    const records = new Map<string, PageTree>();
    this.#scanTree({ name: MAIN, record: tables, compare: Buffer.compare, take: (node) => this.#takeTable(node, records) });
    const own = records.get(SEALED_TABLE);
    if (own !== undefined) this.#scanTable(SEALED_TABLE, own);
    this.#isSealed = (this.#tables.get(SEALED_TABLE)?.rows ?? 0) > 0;
    for (const [name, record] of records) if (name !== SEALED_TABLE) this.#scanTable(name, record);
    this.#scanTree({ name: FREE, record: free, compare: compareNumbers, take: (node) => this.#takeFree(node) });
  }

  #takeTable({ flags, key, body }: Node, records: Map<string, PageTree>): void {
    const name = key.toString().replace(/\0$/, "");
    const isKnown = name === SEALED_TABLE || this.#options.tables.includes(name);
    if (!isKnown) return this.#find(undefined, `there is a table ${JSON.stringify(name.slice(0, 60))}, which this program does not know`);
    if (flags !== NODE_TREE || body.length !== TREE_BYTES) return this.#find(name, "its record is none of a table");
    const record = readTree(body);
    if (record.flags !== 0) this.#find(name, "its record holds flags that no table has");
    records.set(name, record);
  }

  #scanTable(name: string, record: PageTree): void {
    const count: TableCount = { rows: 0, damaged: 0 };
    const seal = new TableSeal(name);
    this.#tables.set(name, count);
    const take = ({ flags, key, body }: Node) => {
      const value = flags === 0 ? this.#valueOf(seal, key, body) : undefined;
      if (value === undefined) {
        count.damaged++;
        this.#find(name, `the value of key ${keyText(key)} is not what was written`);
        return;
      }
      count.rows++;
      this.#options.takeRow?.(name, key, value);
    };
    this.#scanTree({ name, record, compare: Buffer.compare, take });
  }

  #valueOf(seal: TableSeal, key: Buffer, body: Buffer): Uint8Array | undefined {
    const value = seal.open(key, body);
    return value ?? (this.#isSealed || seal.isClosed(body) ? undefined : body);
  }

  #takeFree({ flags, body }: Node): void {
    if (flags !== 0 || body.length % 8 !== 0 || body.length === 0) return this.#find(undefined, `${FREE} has a record that is none`);
    const count = readWord(body, 0);
    if (count > body.length / 8 - 1) return this.#find(undefined, `${FREE} has a record that is shorter than it says`);
    let run = 1;
    for (let i = 1; i <= count; i++) {
      const word = body.readBigInt64LE(8 * i);
      if (word > 0n) this.#mark(Number(word), run);
      run = word < 0n ? Number(-word) : 1;
    }
  }

  #scanTree(tree: Omit<Tree, "count">): void {
    const count: TreeCount = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    const { record, name } = tree;
    if (record.root !== NO_PAGE) {
      if (record.depth < 1 || record.depth > DEPTH_MAX) return this.#find(name, `its tree has a depth of ${record.depth}`);
      this.#scanPage({ ...tree, count }, record.root, 1, { from: undefined, to: undefined });
    } else if (record.depth !== 0) this.#find(name, "its tree has a depth and no page");
    for (const what of ["branchPages", "leafPages", "overflowPages", "entries"] as const) {
      if (record[what] !== count[what]) this.#find(name, `of ${record[what]} ${NAMES[what]} ${count[what]} can be read`);
    }
  }

  #scanPage(tree: Tree, number: number, level: number, bounds: KeyBounds): void {
    this.#try(tree.name, () => {
      const page = this.#readPage(number, level);
      const isLeaf = level === tree.record.depth;
      if (page.readUInt16LE(18) !== (isLeaf ? FLAG_LEAF : FLAG_BRANCH))
        throw new FileDamage(`page ${number} is of another kind than its place`);
      tree.count[isLeaf ? "leafPages" : "branchPages"]++;
      const nodes = readNodes(page, number, isLeaf);
      if (isLeaf) this.#scanLeaf(tree, number, nodes, bounds);
      else this.#scanBranch(tree, number, level, nodes, bounds);
    });
  }

  #scanLeaf(tree: Tree, number: number, nodes: readonly Node[], bounds: KeyBounds): void {
    checkKeys(tree, number, nodes, bounds);
    for (const node of nodes) {
      tree.count.entries++;
      this.#try(tree.name, () => tree.take((node.flags & NODE_OVERFLOW) === 0 ? node : this.#withOverflow(tree, node)));
    }
  }

  /** The first key of a branch page says nothing. */
  #scanBranch(tree: Tree, number: number, level: number, nodes: readonly Node[], bounds: KeyBounds): void {
    if (nodes.length === 0) throw new FileDamage(`page ${number} has no child`);
    const keys = nodes.map(({ key }) => Buffer.from(key));
    checkKeys(tree, number, nodes.slice(1), bounds);
    const children = nodes.map(({ word }) => word);
    children.forEach((child, i) => {
      this.#scanPage(tree, child, level + 1, { from: i === 0 ? bounds.from : keys[i], to: keys[i + 1] ?? bounds.to });
    });
  }

  #withOverflow(tree: Tree, { flags, key, word: bytes, body: record }: Node): Node {
    const { pageBytes } = this.#snapshot;
    const [number, pages] = [readWord(record, 0), readWord(record, 16)];
    // A value that is put over a longer one of the same transaction keeps its pages.
    if (pages < Math.floor((PAGE_HEADER_BYTES - 1 + bytes) / pageBytes) + 1)
      throw new FileDamage(`a value of ${bytes} bytes names ${pages} pages`);
    this.#mark(number, pages);
    tree.count.overflowPages += pages;
    if (this.#large.length < pages * pageBytes) this.#large = Buffer.alloc(2 * pages * pageBytes);
    const large = this.#large.subarray(0, PAGE_HEADER_BYTES + bytes);
    this.#file.read(large, number * pageBytes);
    this.#checkHeader(large, number);
    if (large.readUInt16LE(18) !== FLAG_OVERFLOW || large.readUInt32LE(20) !== pages)
      throw new FileDamage(`page ${number} is not that of a large value`);
    return { flags: flags & ~NODE_OVERFLOW, key, word: bytes, body: large.subarray(PAGE_HEADER_BYTES) };
  }

  /** A page in a buffer of its level. */
  #readPage(number: number, level: number): Buffer {
    this.#mark(number, 1);
    const { pageBytes } = this.#snapshot;
    this.#pages[level] ??= Buffer.alloc(pageBytes);
    const page = this.#pages[level] as Buffer;
    this.#file.read(page, number * pageBytes);
    this.#checkHeader(page, number);
    return page;
  }

  #checkHeader(page: Buffer, number: number): void {
    if (readWord(page, 0) !== number) throw new FileDamage(`page ${number} is not the one that belongs there`);
    if (readWord(page, 8) > this.#snapshot.transaction) throw new FileDamage(`page ${number} is newer than the last transaction`);
  }

  /** Notes that pages are used or free. Throws where one is noted already, or is not there. */
  #mark(first: number, pages: number): void {
    const { lastPage } = this.#snapshot;
    if (!(pages >= 1) || first + pages - 1 > lastPage)
      throw new FileDamage(`page ${first + pages - 1} is named, and there are ${lastPage + 1}`);
    for (let page = first; page < first + pages; page++) {
      const bit = 1 << (page & 7);
      const word = this.#used[page >> 3] as number;
      if ((word & bit) !== 0) throw new FileDamage(`page ${page} is named twice`);
      this.#used[page >> 3] = word | bit;
    }
  }

  #find(table: string | undefined, what: string): void {
    this.#findingCount++;
    if (this.#findings.length < FINDINGS_MAX) this.#findings.push({ table, what });
  }

  /** Runs `work` and reports what it cannot read as a finding; after one, others run only where the scan is to be thorough. */
  #try(table: string | undefined, work: () => void): void {
    if (this.#findingCount > 0 && this.#options.isThorough !== true) return;
    try {
      work();
    } catch (error) {
      if (!(error instanceof FileDamage)) throw error;
      this.#find(table, error.message);
    }
  }
}

const NAMES = { branchPages: "branch pages", leafPages: "leaf pages", overflowPages: "pages of large values", entries: "rows" } as const;

/** The nodes of a page, views of it. Throws FileDamage. */
function readNodes(page: Buffer, number: number, isLeaf: boolean): Node[] {
  const [lower, upper, bodyBytes] = [page.readUInt16LE(20), page.readUInt16LE(22), page.length - PAGE_HEADER_BYTES];
  if (lower % 2 !== 0 || lower > upper || upper > bodyBytes) throw new FileDamage(`page ${number} is filled as no page can be`);
  const nodes: Node[] = [];
  let nodeBytes = 0;
  for (let i = 0; i < lower / 2; i++) {
    const at = page.readUInt16LE(PAGE_HEADER_BYTES + 2 * i);
    const node = at < upper || at + NODE_HEADER_BYTES > bodyBytes ? undefined : readNode(page, PAGE_HEADER_BYTES + at, isLeaf);
    if (node === undefined) throw new FileDamage(`page ${number} has a row that lies outside of it`);
    nodeBytes += NODE_HEADER_BYTES + node.key.length + node.body.length + ((node.key.length + node.body.length) & 1);
    nodes.push(node);
  }
  if (nodeBytes !== bodyBytes - upper) throw new FileDamage(`page ${number} has rows of ${nodeBytes} bytes in ${bodyBytes - upper}`);
  return nodes;
}

function readNode(page: Buffer, at: number, isLeaf: boolean): Node | undefined {
  const flags = page.readUInt16LE(at + 4);
  const keyAt = at + NODE_HEADER_BYTES;
  const bodyAt = keyAt + page.readUInt16LE(at + 6);
  const word = page.readUInt32LE(at) + (isLeaf ? 0 : flags * 2 ** 32);
  const bodyBytes = !isLeaf ? 0 : (flags & NODE_OVERFLOW) === 0 ? word : OVERFLOW_RECORD_BYTES;
  if (bodyAt + bodyBytes > page.length) return undefined;
  return { flags, key: page.subarray(keyAt, bodyAt), word, body: page.subarray(bodyAt, bodyAt + bodyBytes) };
}

function checkKeys({ compare }: Tree, number: number, nodes: readonly Node[], { from, to }: KeyBounds): void {
  let before = from;
  let isFirst = true;
  for (const { key } of nodes) {
    const order = before === undefined ? -1 : compare(before, key);
    if (order > 0 || (order === 0 && !isFirst) || (to !== undefined && compare(key, to) >= 0)) {
      throw new FileDamage(`page ${number} has a key out of order: ${keyText(key)}`);
    }
    before = key;
    isFirst = false;
  }
}

function compareNumbers(a: Buffer, b: Buffer): number {
  if (a.length !== 8 || b.length !== 8) throw new FileDamage("a key of a free page is no number");
  return readWord(a, 0) - readWord(b, 0);
}
