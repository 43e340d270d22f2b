// Services and the graph of their calls.
import { z } from "zod";
import { SEVERITY } from "./alert.ts";
import { COUNT, NEXT_PAGE, TIMESTAMP } from "./scalars.ts";
import { CALL_EDGE } from "./series.ts";

const OPEN = { open_anomalies: COUNT, worst_severity: SEVERITY.nullable().describe("of the open anomalies") };

const SERVICE = z
  .strictObject({
    service_id: z.string(),
    environment: z.string(),
    team: z.string().nullable().describe("its label in force"),
    maturity: z.enum(["young", "settling", "mature"]).describe("by its oldest value"),
    streams: COUNT.describe("in memory"),
    ...OPEN,
    last_sample: TIMESTAMP.nullable(),
  })
  .meta({ id: "Service" });

export const SERVICE_LIST = z.strictObject({ services: z.array(SERVICE), total: COUNT, page_token: NEXT_PAGE });

export const RETIRED_SERVICE = z.strictObject({
  service_id: z.string(),
  environment: z.string().nullable().describe("null: all of them"),
  retired_at: TIMESTAMP,
  retired_by: z.string(),
  alerts_ended: COUNT,
});

const NODE = z.strictObject({
  service_id: z.string(),
  environment: z.string(),
  depth: COUNT.describe("steps from the service that was asked for"),
  calls: COUNT.describe("made and taken"),
  ...OPEN,
});

/** A neighbourhood. */
export const GRAPH = z.strictObject({
  nodes: z.array(NODE),
  edges: z.array(CALL_EDGE).describe("between the nodes"),
  nodes_total: COUNT,
  since: TIMESTAMP,
  until: TIMESTAMP,
  complete: z.boolean().describe("false where the neighbourhood has more nodes"),
});
