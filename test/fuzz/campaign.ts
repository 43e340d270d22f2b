// One run over one decoder. An input is written from scratch, or damaged from one written now, from the corpus, or from an input of this run that reached
// something new: feature-guided, since neither WebAssembly nor V8 tells coverage at ten microseconds an input.
import { InputWriter } from "./input/input-writer.ts";
import { Mutation } from "./input/mutation.ts";
import { hashName, Random } from "./input/random.ts";
import type { FuzzTarget } from "./target.ts";

/** Inputs kept for what they reached; beyond, a new one takes the place of another. */
const KEPT_MAX = 1024;
/** Of so many inputs with a checksum one is not repaired. */
const UNREPAIRED = 8;

export interface CampaignOptions {
  readonly seed: number;
  readonly inputs: number;
  /** Inputs that are tried first, and damaged afterwards. */
  readonly corpus: readonly Uint8Array[];
  /** Told before each input which it is. */
  readonly onInput?: (index: number) => void;
}

/** What must not have happened, and by which input. */
export interface Finding {
  readonly index: number;
  readonly input: Uint8Array;
  readonly error: unknown;
}

export interface CampaignResult {
  readonly inputs: number;
  readonly accepted: number;
  /** Different things that were reached. */
  readonly features: number;
  /** Inputs that reached something first, in order. */
  readonly kept: readonly Uint8Array[];
  readonly finding?: Finding;
}

/** Feeds a decoder until the inputs are at their end or one fails. */
export function runCampaign(target: FuzzTarget, { seed, inputs, corpus, onInput = () => {} }: CampaignOptions): CampaignResult {
  const random = new Random();
  const source = new InputSource(target, corpus);
  const stream = hashName(target.name);
  const features = new Set<number>();
  let accepted = 0;
  for (let index = 0; index < inputs; index++) {
    onInput(index);
    random.start(seed, stream, index);
    const input = source.next(index, random);
    try {
      const feature = target.check(input);
      if (feature >= 0) accepted++;
      if (features.has(feature)) continue;
      features.add(feature);
      source.keep(input, random);
    } catch (error) {
      return { inputs: index + 1, accepted, features: features.size, kept: source.kept, finding: { index, input: input.slice(), error } };
    }
  }
  return { inputs, accepted, features: features.size, kept: source.kept };
}

/** Makes the inputs of a run. */
class InputSource {
  readonly #target: FuzzTarget;
  readonly #corpus: readonly Uint8Array[];
  readonly #pool: Uint8Array[];
  readonly #writer: InputWriter;
  readonly #mutation: Mutation;
  readonly kept: Uint8Array[] = [];

  constructor(target: FuzzTarget, corpus: readonly Uint8Array[]) {
    this.#target = target;
    this.#corpus = corpus;
    this.#pool = [...corpus];
    this.#writer = new InputWriter(target.bytesMax);
    this.#mutation = new Mutation(target.bytesMax);
  }

  next(index: number, random: Random): Uint8Array {
    if (index < this.#corpus.length) return this.#corpus[index] as Uint8Array;
    const way = random.below(10);
    if (way < 2 || this.#pool.length === 0) return this.#written(random);
    const base = way < 5 ? this.#written(random) : random.pick(this.#pool);
    const input = this.#mutation.damage(base, random.pick(this.#pool), this.#target.tokens, random);
    if (this.#target.repair !== undefined && !random.oneIn(UNREPAIRED)) this.#target.repair(input);
    return input;
  }

  /** Keeps a copy of an input to be damaged later. */
  keep(input: Uint8Array, random: Random): void {
    const copy = input.slice();
    if (this.kept.length < KEPT_MAX) this.kept.push(copy);
    if (this.#pool.length < KEPT_MAX) this.#pool.push(copy);
    else this.#pool[random.below(KEPT_MAX)] = copy;
  }

  #written(random: Random): Uint8Array {
    this.#target.write(this.#writer.clear(), random);
    return this.#writer.bytes;
  }
}
