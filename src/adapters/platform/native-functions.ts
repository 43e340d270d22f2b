/**
 * Functions of the C library, called through koffi's native library.
 *
 * That library can call anything in its process. So it passes the gate of every native file that is not Node's own: its sha256 is compared with the
 * table below before it is loaded, and only that file is loaded, none of koffi's own code.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Libraries of koffi 3.3.4, by processor: the file for glibc, then the one for musl. */
const LIBRARIES: ReadonlyMap<string, ReadonlyArray<readonly [file: string, sha256: string]>> = new Map([
  [
    "x64",
    [
      ["linux_x64/koffi.node", "bee3ebc173f47178269e8441fbfd90899c8fe6bc3c948f481c79670f924b1725"],
      ["musl_x64/koffi.node", "9adcea38c4feb5bdf91d07535c75d9d1caecf7a9b9f8cc87a9a1271a52d8b1ab"],
    ],
  ],
]);

/** A function of the C library; `async` calls it in a thread of libuv's pool, the last parameter is told how it ended. */
export interface NativeFunction {
  (...parameters: ReadonlyArray<unknown>): number;
  async(...parameters: readonly [...ReadonlyArray<unknown>, ended: (error: unknown, result: number) => void]): void;
}

/** Functions of koffi that are used. */
export interface Koffi {
  load(path: null): { func(declaration: string): NativeFunction };
  struct(name: string, members: Readonly<Record<string, string>>): unknown;
  errno(): number;
}

/** The library, or why it is not loaded. `folder` is that of its package for this processor, the installed one where it is not given. Throws what its loader throws. */
export function loadKoffi(folder?: string): Koffi | string {
  const require = createRequire(import.meta.url);
  const files = LIBRARIES.get(process.arch);
  if (files === undefined) return `no checksum is known of koffi for ${process.arch}: it is not loaded`;
  const home = folder ?? dirname(createRequire(require.resolve("koffi")).resolve(`@koromix/koffi-linux-${process.arch}`));
  let failure: unknown;
  for (const [file, expected] of files) {
    const path = join(home, file);
    const actual = createHash("sha256").update(readFileSync(path)).digest("hex");
    if (actual !== expected) return `koffi's ${file} has sha256 ${actual}, not ${expected}: it is not loaded`;
    try {
      return require(path) as Koffi;
    } catch (error) {
      failure ??= error; // made for the other C library
    }
  }
  throw failure;
}
