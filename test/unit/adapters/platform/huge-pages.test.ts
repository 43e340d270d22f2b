import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { adviseHugePages } from "../../../../src/adapters/platform/huge-pages.ts";
import { createEngineMemory, enlargePages } from "../../../../src/adapters/shared-memory/engine-memory.ts";
import { STREAM_RECORDS } from "../../../../src/core/layout/memory-map.ts";

const KIB_OF_STREAMS = (2 ** 32 - STREAM_RECORDS) / 1024;

/** Sizes in KiB of this process's memory areas that asked for large pages: `hg` among an area's flags. */
function advisedAreas(): number[] {
  const areas = readFileSync("/proc/self/smaps", "utf8").split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/);
  return areas.filter((area) => /^VmFlags:.* hg\b/m.test(area)).map((area) => Number(/^Size: +(\d+) kB$/m.exec(area)?.[1]));
}

describe("large pages", () => {
  it("are asked for where streams lie, and nowhere else in an engine's memory", () => {
    const before = advisedAreas().filter((kib) => kib === KIB_OF_STREAMS).length;
    const memory = createEngineMemory();
    expect(enlargePages(memory)).toBeUndefined();
    expect(advisedAreas().filter((kib) => kib === KIB_OF_STREAMS)).toHaveLength(before + 1);
    const words = new Uint32Array(memory.buffer, STREAM_RECORDS, 4);
    words[3] = 7;
    expect(words[3]).toBe(7);
  });

  it("says why there are none", () => {
    const bytes = new Uint8Array(createEngineMemory().buffer);
    expect(adviseHugePages(bytes.subarray(1, 4097))).toBe("madvise ended with errno 22");
  });

  it.runIf(process.arch === "x64")("are not asked for through a library that is another than the known one", () => {
    const folder = mkdtempSync(join(tmpdir(), "vedette-koffi-"));
    try {
      cpSync("node_modules/@koromix/koffi-linux-x64", folder, { recursive: true });
      const bytes = new Uint8Array(createEngineMemory().buffer);
      expect(adviseHugePages(bytes.subarray(1, 4097), folder)).toBe("madvise ended with errno 22");
      const path = join(folder, "linux_x64", "koffi.node");
      const library = readFileSync(path);
      library[library.length - 1] = (library.at(-1) as number) ^ 1;
      rmSync(path); // written in place it would be cut below the library that is loaded: its relocated pages would be gone, and the next finalizer a crash
      writeFileSync(path, library);
      expect(adviseHugePages(bytes.subarray(1, 4097), folder)).toMatch(
        /^koffi's linux_x64\/koffi.node has sha256 \w{64}, not \w{64}: it is not loaded$/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
