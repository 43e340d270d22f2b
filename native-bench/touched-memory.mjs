// Memory that the machine has given before. A virtual machine may get the memory that it frees taken away and is given it again page by page, as it is
// touched: a file is then written at 0.45 GB/s instead of 4, and how much of that a turn meets hangs on what was freed shortly before it.
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";

const STEP = new Uint8Array(1024 * 1024).fill(1);
/** More than a turn of a row writes. */
export const TURN_MIB = 1024;
/** More than a slice of a round writes. What was freed three seconds ago may be gone again, so a slice has its own. */
export const SLICE_MIB = 256;

/** Touches `mib` MiB of memory and frees them: as many as the pages of a file in `folder`, which is deleted. Every contestant gets them, before what counts. */
export async function touchMemory(/** @type {string} */ folder, /** @type {number} */ mib) {
  const path = join(folder, "touched-memory");
  const file = await open(path, "w");
  try {
    for (let step = 0; step < mib; step++) await file.write(STEP);
  } finally {
    await file.close();
    await unlink(path);
  }
}
