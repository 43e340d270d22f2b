// Isolation Forest (Liu, Ting & Zhou 2008): random trees separate strange vectors in few cuts. Trees are flat typed arrays, so that a forest is
// scored without a jump through objects and is stored as its bytes: 6 bytes a node (8 in large forests), at most 2 psi - 1 nodes a tree.
import type { Rows } from "./principal-components.ts";

const EULER_GAMMA = 0.5772156649015329;
const TREES = 100;
const SAMPLE = 256;
const ATTEMPTS_MAX = 16;
/** Features, and nodes of a tree, up to which a byte says each. */
const BYTE_PLACES = 256;

/** Uniform in [0, 1). */
export type Random = () => number;

export interface ForestOptions {
  readonly trees?: number;
  /** Vectors that each tree is grown from (psi). */
  readonly sample?: number;
  /** Makes equal forests from equal seeds. */
  readonly random: Random;
}

/** Mean path length of an unsuccessful search in a binary search tree of n values, c(n); 0 for n <= 1, 1 for 2. */
export function averagePathLength(n: number): number {
  if (n <= 1) return 0;
  if (n === 2) return 1;
  return 2 * (Math.log(n - 1) + EULER_GAMMA) - (2 * (n - 1)) / n;
}

/** Score 2^(-depth / c(n)) of a mean depth: 1 is strange, about 0.5 ordinary. */
export function scoreOfDepth(depth: number, n: number): number {
  return 2 ** (-depth / averagePathLength(n));
}

/** Numbers of features, and distances between nodes: in bytes where they fit. */
export type Places = Uint8Array | Uint16Array;

/** A forest as it is stored: all trees one after the other. */
export interface ForestNodes {
  readonly roots: Uint32Array;
  readonly cuts: Float32Array;
  readonly features: Places;
  readonly rights: Places;
  /** Vectors that each tree was grown from. */
  readonly sample: number;
}

/** A grown forest; it is not changed afterwards. */
export class IsolationForest {
  readonly #roots: Uint32Array;
  readonly #features: Places;
  /** Cut of an inner node; depth of a leaf with c(values in it). */
  readonly #cuts: Float32Array;
  /** Place of an inner node's right child, from the root of its tree on, while the left one follows it; 0 of a leaf. */
  readonly #rights: Places;
  readonly #sample: number;

  /** Over nodes that are not changed afterwards; `grow` makes them. */
  constructor(nodes: ForestNodes) {
    this.#roots = nodes.roots;
    this.#features = nodes.features;
    this.#cuts = nodes.cuts;
    this.#rights = nodes.rights;
    this.#sample = nodes.sample;
  }

  /** Grows a forest from at least 2 rows of at most 65,536 numbers. */
  static grow(rows: Rows, { trees = TREES, sample = SAMPLE, random }: ForestOptions): IsolationForest {
    const count = rows.values.length / rows.width;
    const drawn = Math.min(sample, count);
    const growth = new TreeGrowth(rows, drawn, random);
    const roots = new Uint32Array(trees);
    for (let tree = 0; tree < trees; tree++) {
      roots[tree] = growth.length;
      growth.grow();
    }
    const isSmall = rows.width <= BYTE_PLACES && 2 * drawn <= BYTE_PLACES;
    const places = (list: number[]): Places => (isSmall ? Uint8Array.from(list) : Uint16Array.from(list));
    const [features, rights] = [places(growth.features), places(growth.rights)];
    return new IsolationForest({ roots, features, cuts: Float32Array.from(growth.cuts), rights, sample: drawn });
  }

  get nodes(): ForestNodes {
    return { roots: this.#roots, cuts: this.#cuts, features: this.#features, rights: this.#rights, sample: this.#sample };
  }

  /** Bytes of all trees. */
  get bytes(): number {
    return this.#features.byteLength + this.#cuts.byteLength + this.#rights.byteLength + this.#roots.byteLength;
  }

  /** Score of the vector that stands in `values` from `start` on, 0..1. */
  score(values: Float64Array, start = 0): number {
    let depths = 0;
    for (const root of this.#roots) {
      let node = root;
      for (let right = this.#rights[node] as number; right !== 0; right = this.#rights[node] as number) {
        node = (values[start + (this.#features[node] as number)] as number) < (this.#cuts[node] as number) ? node + 1 : root + right;
      }
      depths += this.#cuts[node] as number;
    }
    return scoreOfDepth(depths / this.#roots.length, this.#sample);
  }
}

/** Grows trees one after the other into lists of nodes. */
class TreeGrowth {
  readonly features: number[] = [];
  readonly cuts: number[] = [];
  readonly rights: number[] = [];
  readonly #rows: Rows;
  readonly #random: Random;
  readonly #indexes: Uint32Array;
  readonly #sample: number;
  readonly #depthMax: number;
  #root = 0;

  constructor(rows: Rows, sample: number, random: Random) {
    this.#rows = rows;
    this.#random = random;
    this.#sample = sample;
    this.#depthMax = Math.ceil(Math.log2(Math.max(2, sample)));
    this.#indexes = Uint32Array.from({ length: rows.values.length / rows.width }, (_, i) => i);
  }

  get length(): number {
    return this.features.length;
  }

  grow(): void {
    this.#root = this.length;
    this.#draw();
    this.#node(0, this.#sample, 0);
  }

  /** Puts a sample without replacement to the front of the indexes (Fisher-Yates). */
  #draw(): void {
    for (let i = 0; i < this.#sample; i++) this.#swap(i, i + Math.floor(this.#random() * (this.#indexes.length - i)));
  }

  #node(from: number, to: number, depth: number): void {
    const cut = depth < this.#depthMax && to - from > 1 ? this.#cut(from, to) : null;
    if (cut === null) {
      this.#push(0, depth + averagePathLength(to - from));
      return;
    }
    const node = this.#push(cut.feature, cut.value);
    const middle = this.#partition(from, to, cut.feature, Math.fround(cut.value));
    this.#node(from, middle, depth + 1);
    this.rights[node] = this.length - this.#root;
    this.#node(middle, to, depth + 1);
  }

  #push(feature: number, cut: number): number {
    this.cuts.push(cut);
    this.rights.push(0);
    return this.features.push(feature) - 1;
  }

  /** A feature that is not constant here, by lot, and a value within its range; null where all are. */
  #cut(from: number, to: number): { feature: number; value: number } | null {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const cut = this.#cutOf(Math.floor(this.#random() * this.#rows.width), from, to);
      if (cut !== null) return cut;
    }
    const first = Math.floor(this.#random() * this.#rows.width);
    for (let step = 0; step < this.#rows.width; step++) {
      const cut = this.#cutOf((first + step) % this.#rows.width, from, to);
      if (cut !== null) return cut;
    }
    return null;
  }

  #cutOf(feature: number, from: number, to: number): { feature: number; value: number } | null {
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (let i = from; i < to; i++) {
      const value = this.#value(i, feature);
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    // The cut is kept in single precision: it must still have a value on each side.
    const value = Math.fround(least + this.#random() * (most - least));
    if (value > least && value <= most) return { feature, value };
    const upper = Math.fround(most);
    return least < upper && upper <= most ? { feature, value: upper } : null;
  }

  #partition(from: number, to: number, feature: number, cut: number): number {
    let middle = from;
    for (let i = from; i < to; i++) if (this.#value(i, feature) < cut) this.#swap(i, middle++);
    return middle;
  }

  #value(index: number, feature: number): number {
    return this.#rows.values[(this.#indexes[index] as number) * this.#rows.width + feature] as number;
  }

  #swap(i: number, j: number): void {
    const index = this.#indexes[i] as number;
    this.#indexes[i] = this.#indexes[j] as number;
    this.#indexes[j] = index;
  }
}

/** Uniform numbers in [0, 1) of 32 bits by xoshiro128** (Blackman & Vigna 2018), its state filled by splitmix32; equal seeds give equal numbers. */
export function seededRandom(seed: number): Random {
  const state = new Uint32Array(4);
  let filling = seed >>> 0;
  for (let i = 0; i < state.length; i++) {
    filling = (filling + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(filling ^ (filling >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    state[i] = mixed ^ (mixed >>> 15);
  }
  return () => {
    const second = state[1] as number;
    const result = Math.imul(rotate(Math.imul(second, 5), 7), 9) >>> 0;
    state[2] = (state[2] as number) ^ (state[0] as number);
    state[3] = (state[3] as number) ^ second;
    state[1] = second ^ (state[2] as number);
    state[0] = (state[0] as number) ^ (state[3] as number);
    state[2] = (state[2] as number) ^ (second << 9);
    state[3] = rotate(state[3] as number, 11);
    return result / 2 ** 32;
  };
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
