// Signs of axes, five dots wide and seven high: a row is five bits, the leftmost the highest.
import { ownMember } from "../../core/collections/own-member.ts";

/** Dots of a sign, and between two. */
export const SIGN = { width: 5, height: 7, gap: 1 } as const;

// biome-ignore format: one sign a line
const ROWS: Readonly<Record<string, readonly number[]>> = {
  "0": [14, 17, 19, 21, 25, 17, 14],
  "1": [4, 12, 4, 4, 4, 4, 14],
  "2": [14, 17, 1, 2, 4, 8, 31],
  "3": [31, 2, 4, 2, 1, 17, 14],
  "4": [2, 6, 10, 18, 31, 2, 2],
  "5": [31, 16, 30, 1, 1, 17, 14],
  "6": [6, 8, 16, 30, 17, 17, 14],
  "7": [31, 1, 2, 4, 8, 8, 8],
  "8": [14, 17, 17, 14, 17, 17, 14],
  "9": [14, 17, 17, 15, 1, 2, 12],
  ".": [0, 0, 0, 0, 0, 12, 12],
  ":": [0, 12, 12, 0, 12, 12, 0],
  "-": [0, 0, 0, 31, 0, 0, 0],
  "+": [0, 4, 4, 31, 4, 4, 0],
  "k": [16, 16, 18, 20, 24, 20, 18],
  "M": [17, 27, 21, 21, 17, 17, 17],
  "G": [14, 17, 16, 23, 17, 17, 15],
  "T": [31, 4, 4, 4, 4, 4, 4],
  "e": [0, 0, 14, 17, 31, 16, 14],
  "U": [17, 17, 17, 17, 17, 17, 14],
  "C": [14, 17, 16, 16, 16, 17, 14],
  " ": [0, 0, 0, 0, 0, 0, 0],
};

/** Rows of a sign; of one that has none, an empty one. */
export function signRows(sign: string): readonly number[] {
  return ownMember(ROWS, sign) ?? (ownMember(ROWS, " ") as readonly number[]);
}

/** Dots that a text takes from left to right. */
export function textWidth(text: string): number {
  return Math.max(0, text.length * (SIGN.width + SIGN.gap) - SIGN.gap);
}
