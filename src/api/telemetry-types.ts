// GET /api/v1/telemetry-types: the same for everybody and for ever, so the body is made once.
import { RECORD_TYPES } from "../core/layout/counters.ts";

/** The answer's body. */
export const TELEMETRY_TYPES_BODY = JSON.stringify({ types: RECORD_TYPES, default: RECORD_TYPES[0] });
