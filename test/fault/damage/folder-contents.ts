// What a server tells of its data folder, in a form that two folders can be compared by.
import type { ServerProcess, ServerSettings } from "../../support/server-process.ts";
import { type Holdings, readHoldings, readPages } from "../holdings.ts";

/** Nothing happens by the clock while a start is judged. */
export const QUIET_SETTINGS: ServerSettings = { ENGINES: "1", WATCHDOG_INTERVAL_SECONDS: "3600", VECTORIZER_INTERVAL_SECONDS: "60" };

/** What a folder's server tells. */
export interface FolderContents {
  readonly holdings: Holdings;
  /** Rows of lists, one line each, sorted. */
  readonly lists: readonly string[];
}

/** Everything that the server tells of what its folder holds. */
export async function readContents(server: ServerProcess): Promise<FolderContents> {
  const holdings: Holdings = await readHoldings(server);
  const lists = await Promise.all(
    LISTS.map(async ([path, name]) => (await readPages<unknown>(server, path, name)).map((row) => `${name} ${JSON.stringify(row)}`)),
  );
  return { holdings, lists: lists.flat().sort() };
}

const LISTS = [
  ["/api/v1/silences", "silences"],
  ["/api/v1/service-labels", "labels"],
  ["/api/v1/saturation/limits", "limits"],
] as const;
