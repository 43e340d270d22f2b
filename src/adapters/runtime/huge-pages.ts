/**
 * Pages of 2 MiB for memory that is read all over. A million rings take 2 GiB; with pages of 4 KiB nearly every sample misses the processor's table of
 * pages, and on a virtual machine each miss is a walk through two of them ([ADR 75](../../../docs/measurements/0075-large-pages-for-rings.md)).
 *
 * Linux gives such pages to memory that asks for them (madvise(2), MADV_HUGEPAGE) unless `/sys/kernel/mm/transparent_hugepage/enabled` is `never`. Node has no
 * call for it, so koffi's native library makes it. It is the only native function that is called through koffi, once for each engine before any thread is started.
 *
 * That library can call anything in the process that holds the secrets. So it passes the gate of every native file that is not Node's own: its sha256 is compared with the
 * table below before it is loaded, and only that file is loaded, none of koffi's own code. Unknown or different: the pages stay small.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The same on all processors that Node runs on. */
const MADV_HUGEPAGE = 14;

/** Of koffi 3.3.4, by processor: the file for glibc, then the one for musl. */
const LIBRARIES: ReadonlyMap<string, ReadonlyArray<readonly [file: string, sha256: string]>> = new Map([
  [
    "x64",
    [
      ["linux_x64/koffi.node", "bee3ebc173f47178269e8441fbfd90899c8fe6bc3c948f481c79670f924b1725"],
      ["musl_x64/koffi.node", "9adcea38c4feb5bdf91d07535c75d9d1caecf7a9b9f8cc87a9a1271a52d8b1ab"],
    ],
  ],
]);

type Advise = (address: Uint8Array, bytes: number, advice: number) => number;

/** What is used of koffi. */
interface Koffi {
  load(path: null): { func(declaration: string): Advise };
  errno(): number;
}

/**
 * Asks for large pages for `bytes`; memory that was touched before keeps its small ones. Answers why the system does not give them, undefined where it does:
 * everything works without. `folder` is that of koffi's package for this processor, the installed one where it is not given.
 */
export function adviseHugePages(bytes: Uint8Array<ArrayBufferLike>, folder?: string): string | undefined {
  if (process.platform !== "linux") return `${process.platform} has none`;
  try {
    const koffi = loadKoffi(folder);
    if (typeof koffi === "string") return koffi;
    const madvise = koffi.load(null).func("int madvise(void *address, size_t bytes, int advice)");
    return madvise(bytes, bytes.length, MADV_HUGEPAGE) === 0 ? undefined : `madvise ended with errno ${koffi.errno()}`;
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
  }
}

/** The library, or why it is not loaded. Throws what its loader throws. */
function loadKoffi(folder: string | undefined): Koffi | string {
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
