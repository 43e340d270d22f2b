// A small generator with a seed: xoshiro128** (Blackman & Vigna 2018), its state filled by splitmix32.
import type { Random } from "./isolation-forest.ts";

/** Uniform numbers in [0, 1) of 32 bits; equal seeds give equal numbers. */
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
