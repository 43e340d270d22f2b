/**
 * Pages of 2 MiB for memory that is read all over. A million rings take 2 GiB; with pages of 4 KiB nearly every sample misses the processor's table of
 * pages, and on a virtual machine each miss is a walk through two of them ([ADR 4](../../../docs/adr/0004-kernel-returns-after-events.md)).
 *
 * Linux gives such pages to memory that asks for them (madvise(2), MADV_HUGEPAGE) unless `/sys/kernel/mm/transparent_hugepage/enabled` is `never`. Whoever touches such memory
 * first waits until 2 MiB are cleared: 12 ms on a virtual machine that has to get them from its host, 16 times what small pages take there. From Linux 6.1 on pages that are in use
 * can be made large (MADV_COLLAPSE), by a thread that nobody waits for. Node has no call for either, so that they are made through [koffi](native-functions.ts).
 * Unknown or different library: the pages stay small.
 */
import { release } from "node:os";
import { firstLineOf } from "../../core/text/error-text.ts";
import { type Koffi, loadKoffi } from "./native-functions.ts";

export const LARGE_PAGE_BYTES = 2 * 1024 * 1024;

/** The same on all processors that Node runs on. */
const MADV_HUGEPAGE = 14;
const MADV_COLLAPSE = 25;
const MADVISE = "int madvise(void *address, size_t bytes, int advice)";

/** Makes the whole large pages in memory large, in a thread of its own; resolves with whether they are. */
export type PageCollapse = (bytes: Uint8Array<ArrayBufferLike>) => Promise<boolean>;

/**
 * Asks for large pages for `bytes`; memory that was touched before keeps its small ones. Answers why the system does not give them, undefined where it does:
 * everything works without. `folder` is that of koffi's package for this processor, the installed one where it is not given.
 */
export function adviseHugePages(bytes: Uint8Array<ArrayBufferLike>, folder?: string): string | undefined {
  const koffi = koffiOf(folder);
  if (typeof koffi === "string") return koffi;
  const madvise = koffi.load(null).func(MADVISE);
  return madvise(bytes, bytes.length, MADV_HUGEPAGE) === 0 ? undefined : `madvise ended with errno ${koffi.errno()}`;
}

/** What makes pages large that are in use; undefined where the system has no call for that. */
export function pageCollapse(systemRelease = release()): PageCollapse | undefined {
  const koffi = knowsCollapse(systemRelease) ? koffiOf() : "";
  if (typeof koffi === "string") return undefined;
  const madvise = koffi.load(null).func(MADVISE);
  return (bytes) =>
    new Promise((resolve) => madvise.async(bytes, bytes.length, MADV_COLLAPSE, (error, result) => resolve(error == null && result === 0)));
}

/** Whether a release of Linux, such as 6.1.0, has MADV_COLLAPSE. */
function knowsCollapse(systemRelease: string): boolean {
  const [major = 0, minor = 0] = systemRelease.split(".").map((part) => Number.parseInt(part, 10));
  return major > 6 || (major === 6 && minor >= 1);
}

function koffiOf(folder?: string): Koffi | string {
  if (process.platform !== "linux") return `${process.platform} has none`;
  try {
    return loadKoffi(folder);
  } catch (error) {
    return firstLineOf(error);
  }
}
