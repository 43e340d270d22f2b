// Damages of a data folder, each made of its number alone: one file, one kind of damage, at one place.
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Generator, generator } from "../../support/generator.ts";

const KINDS = ["flip", "cut", "zero", "delete"] as const;
export type DamageKind = (typeof KINDS)[number];
/** Bytes that one damage of kind `zero` overwrites at most: two pages. */
const ZEROS_MAX = 8_192;
/** Where LMDB and the log say what there is; every second flip and zero lies there, as a random place seldom does. */
const HEAD_BYTES = 4_400;

/** What was done to the folder. */
export interface Damage {
  /** Path below the folder. */
  readonly file: string;
  readonly kind: DamageKind;
  readonly at: number;
  readonly bytes: number;
}

/** Does the damage of a number to a folder, and says which. */
export function damageFolder(folder: string, number: number): Damage {
  const random = generator(0x5eed + number * 7919);
  const file = pick(random, filesOf(folder));
  const kind = pick(random, KINDS);
  const path = join(folder, file);
  if (lstatSync(path).isSymbolicLink()) return damageLink(path, file, kind);
  const size = lstatSync(path).size;
  const at = placeIn(random, size);
  const bytes = kind === "zero" ? Math.max(1, Math.min(size - at, 1 + below(random, ZEROS_MAX))) : kind === "flip" ? 1 : size - at;
  if (kind === "delete") rmSync(path);
  else if (kind === "cut") truncateSync(path, at);
  else overwrite(path, at, bytes, kind === "flip" ? 1 << below(random, 8) : undefined);
  return { file, kind, at: kind === "delete" ? 0 : at, bytes: kind === "delete" ? size : bytes };
}

/** One line of a damage. */
export function damageText({ file, kind, at, bytes }: Damage): string {
  return kind === "flip" ? `one bit of byte ${at} of ${file}` : `${kind} of ${bytes} bytes of ${file} from ${at} on`;
}

/** Every file of the folder; stores and logs twice, as they hold most. */
function filesOf(folder: string): string[] {
  const below = (name: string) => (existsSync(join(folder, name)) ? readdirSync(join(folder, name)).map((each) => join(name, each)) : []);
  const plain = readdirSync(folder).filter((name) => !["log", "control", "series"].includes(name));
  const stores = ["control/data.mdb", "series/data.mdb"];
  return [...plain, ...below("log"), ...below("control"), ...below("series"), ...below("log"), ...stores, ...stores].sort();
}

function damageLink(path: string, file: string, kind: DamageKind): Damage {
  unlinkSync(path);
  if (kind !== "delete") symlinkSync(kind === "zero" ? "0" : "12:34", path);
  return { file, kind, at: 0, bytes: 1 };
}

function placeIn(random: Generator, size: number): number {
  const isHead = random.uniform() < 0.5;
  return below(random, isHead ? Math.min(size, HEAD_BYTES) : size);
}

function overwrite(path: string, at: number, bytes: number, bit: number | undefined): void {
  const content = readFileSync(path);
  if (content.length === 0) return;
  if (bit === undefined) content.fill(0, at, at + bytes);
  else content[at] = (content[at] as number) ^ bit;
  writeFileSync(path, content);
}

function below(random: Generator, count: number): number {
  return Math.floor(random.uniform() * count);
}

function pick<T>(random: Generator, list: readonly T[]): T {
  return list[below(random, list.length)] as T;
}
