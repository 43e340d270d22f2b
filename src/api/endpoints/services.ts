import { z } from "zod";
import { GRAPH_DEPTH_MAX, GRAPH_NODES_MAX } from "../../core/config/interface-limits.ts";
import { NAME_BYTES_MAX, NOTE_CHARACTERS_MAX } from "../../core/config/limits.ts";
import { declared } from "../declared.ts";
import { choiceParameter, environmentParameter, partParameter, textParameter, wholeParameter } from "../parameters.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { GRAPH, RETIRED_SERVICE, SERVICE_LIST } from "../shapes/service.ts";
import { PAGE, TIME_RANGE } from "./query-shapes.ts";

const OPEN_EXAMPLE = { open_anomalies: 2, worst_severity: "high" };

/** Services, and who calls whom. */
export const SERVICES_ENDPOINTS = declared([
  {
    name: "services",
    method: "GET",
    path: "/api/v1/services",
    access: "viewer",
    query: z.strictObject({
      q: partParameter().optional(),
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      team: textParameter("team").optional(),
      state: choiceParameter("state", ["open", "quiet"]).optional(),
      sort: choiceParameter("sort", ["name", "worst", "latest"]).optional(),
      ...PAGE,
    }),
    responses: { 200: SERVICE_LIST },
    examples: {
      response: {
        services: [
          {
            service_id: "checkout",
            environment: "production",
            team: "payments",
            maturity: "mature",
            streams: 12,
            ...OPEN_EXAMPLE,
            last_sample: EXAMPLE_TIME,
          },
        ],
        total: 1,
        page_token: "",
      },
    },
    summary: "Services with series in memory, each environment for itself, with what is open at each; some seconds old at most",
  },
  {
    name: "retireService",
    method: "POST",
    path: "/api/v1/services/{id}/retire",
    access: "operator",
    query: z.strictObject({}),
    parameters: { id: "service_id of the service" },
    body: z.strictObject({
      environment: z.string().max(NAME_BYTES_MAX).optional().describe("absent: all of them"),
      comment: z.string().max(NOTE_CHARACTERS_MAX).optional(),
    }),
    bodyOptional: true,
    responses: { 200: RETIRED_SERVICE },
    errors: ["not_found", "unprocessable"],
    examples: {
      body: { environment: "production", comment: "replaced by checkout-v2" },
      response: {
        service_id: "checkout",
        environment: "production",
        retired_at: EXAMPLE_TIME,
        retired_by: "ada@example.com",
        alerts_ended: 2,
      },
    },
    summary: "Retires a service that is not to come back: its alerts end, and it is not missed; what it sends later brings it back",
  },
  {
    name: "graph",
    method: "GET",
    path: "/api/v1/graph",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      depth: wholeParameter("depth", 1, GRAPH_DEPTH_MAX, "steps along calls, in both directions").optional(),
      nodes: wholeParameter(
        "nodes",
        1,
        GRAPH_NODES_MAX,
        "services that are answered: the nearest, then those with most to tell",
      ).optional(),
      ...TIME_RANGE,
    }),
    responses: { 200: GRAPH },
    examples: {
      response: {
        nodes: [
          { service_id: "checkout", environment: "production", depth: 0, calls: 1200, ...OPEN_EXAMPLE },
          { service_id: "shop", environment: "production", depth: 1, calls: 1200, open_anomalies: 0, worst_severity: null },
        ],
        edges: [{ caller: "shop", callee: "checkout", environment: "production", calls: 1200, errors: 3, duration_ms: 48_250.5 }],
        nodes_total: 2,
        since: "2026-01-31T11:00:00.000Z",
        until: EXAMPLE_TIME,
        complete: true,
      },
    },
    summary: "Who calls whom around a service, with what is open at each; without since the last hour",
  },
]);
