// What the handlers of records use.
import type { SeriesContext } from "../series/series-context.ts";

/** Metrics are among the records: they are read as series are. */
export type RecordsContext = SeriesContext;
