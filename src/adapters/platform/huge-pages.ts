/**
 * Pages of 2 MiB for memory that is read all over. A million rings take 2 GiB; with pages of 4 KiB nearly every sample misses the processor's table of
 * pages, and on a virtual machine each miss is a walk through two of them ([ADR 4](../../../docs/adr/0004-kernel-returns-after-events.md)).
 *
 * Linux gives such pages to memory that asks for them (madvise(2), MADV_HUGEPAGE) unless `/sys/kernel/mm/transparent_hugepage/enabled` is `never`. Node has no
 * call for it, so that it is made through [koffi](native-functions.ts), once for each engine before any thread is started. Unknown or different library: the pages stay small.
 */
import { firstLineOf } from "../../core/text/error-text.ts";
import { loadKoffi } from "./native-functions.ts";

/** The same on all processors that Node runs on. */
const MADV_HUGEPAGE = 14;

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
    return firstLineOf(error);
  }
}
