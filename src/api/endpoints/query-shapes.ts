// Query schemas that endpoints share.
import { z } from "zod";
import { limitParameter, pageTokenParameter, timeParameter } from "../parameters.ts";

/** No parameter is known; any is refused. */
export const NO_QUERY = z.strictObject({});
/** Health probes and scrapers add parameters of their own (cache busters, scrape params): ignored, never refused. */
export const ANY_QUERY = z.object({});

/** `since` is inclusive, `until` exclusive, everywhere: adjacent ranges then share no row. */
export const TIME_RANGE = { since: timeParameter("since").optional(), until: timeParameter("until").optional() };
/** Parameters of lists: number of rows, and the end of the last page. */
export const PAGE = { limit: limitParameter(), page_token: pageTokenParameter() };
