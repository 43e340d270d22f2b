// Deletes covered segments at once, where the server sets them aside and frees them in pieces.
import { errorCode, type LogFileSystem, nodeFileSystem } from "../../src/adapters/log/log-file-system.ts";
import { type CoveredSegments, coveredSegments } from "../../src/adapters/log/log-segment.ts";

/** Returns how many files were deleted; one that is already gone is fine. */
export function deleteCoveredSegments(directory: string, covered: CoveredSegments, files: LogFileSystem = nodeFileSystem): number {
  return coveredSegments(directory, covered, files).filter(({ path }) => isUnlinked(path, files)).length;
}

function isUnlinked(path: string, files: LogFileSystem): boolean {
  try {
    files.unlinkSync(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
