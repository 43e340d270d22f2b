import { z } from "zod";
import { NOTE_CHARACTERS_MAX } from "../../core/config/limits.ts";
import { declared } from "../declared.ts";
import { bucketsParameter, choiceParameter, environmentParameter, numberParameter, partParameter, textParameter } from "../parameters.ts";
import { SEVERITY } from "../shapes/alert.ts";
import { ANOMALY_DETAIL, ANOMALY_DETAIL_EXAMPLE, ANOMALY_EXAMPLE, ANOMALY_LIST } from "../shapes/anomaly.ts";
import { nameField, optionalName } from "../shapes/name.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { PAGE, TIME_RANGE } from "./query-shapes.ts";

export const ANOMALIES_ENDPOINTS = declared([
  {
    name: "anomalies",
    method: "GET",
    path: "/api/v1/anomalies",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({
      service_id: textParameter("service_id").optional(),
      ...TIME_RANGE,
      min_score: numberParameter("min_score", 0, 1).optional(),
      q: partParameter().optional(),
      metric_name: textParameter("metric_name").optional(),
      environment: environmentParameter().optional(),
      severity: choiceParameter("severity", ["low", "medium", "high"]).optional(),
      state: choiceParameter("state", ["open", "resolved"]).optional(),
      detector: textParameter("detector").optional(),
      alert_id: textParameter("alert_id").optional(),
      sort: choiceParameter("sort", ["newest", "oldest", "score", "severity"]).optional(),
      view: choiceParameter("view", ["whole", "list"]).optional(),
      buckets: bucketsParameter().optional(),
      ...PAGE,
    }),
    responses: { 200: ANOMALY_LIST },
    examples: { response: { anomalies: [ANOMALY_EXAMPLE], total: 1, page_token: "" } },
    summary:
      "Anomalies, newest detection first or by `sort`; with `view=list` without their verdicts, with `buckets` counted by severity over time",
  },
  {
    name: "anomaly",
    method: "GET",
    path: "/api/v1/anomalies/{id}",
    access: "viewer",
    answersCommitted: true,
    parameters: { id: "anomaly_id of the anomaly" },
    responses: { 200: ANOMALY_DETAIL },
    examples: { response: ANOMALY_DETAIL_EXAMPLE },
    summary: "One anomaly with its verdict and what became of it",
  },
  {
    name: "changeAnomaly",
    method: "PATCH",
    path: "/api/v1/anomalies/{id}",
    access: "operator",
    parameters: { id: "anomaly_id of the anomaly" },
    body: z
      .strictObject({
        resolved: z.literal(true).optional(),
        feedback: z.enum(["true_positive", "false_positive"]).optional(),
        note: z.string().max(NOTE_CHARACTERS_MAX).optional(),
      })
      .refine(
        ({ resolved, feedback }) => resolved !== undefined || feedback !== undefined,
        "give resolved: true, or feedback as true_positive or false_positive",
      )
      .meta({ anyOf: [{ required: ["resolved"] }, { required: ["feedback"] }] }),
    responses: { 200: ANOMALY_DETAIL },
    errors: ["unprocessable"],
    examples: {
      body: { feedback: "false_positive", note: "load test" },
      response: {
        ...ANOMALY_DETAIL_EXAMPLE,
        feedback: "false_positive",
        feedback_by: "ada@example.com",
        feedback_at: EXAMPLE_TIME,
        feedback_note: "load test",
      },
    },
    summary: "Resolves an anomaly, or says whether it was one: that moves the threshold of its service for two weeks",
  },
  {
    name: "declareAnomaly",
    method: "POST",
    path: "/api/v1/anomalies",
    access: "operator",
    body: z.strictObject({
      service_id: nameField(),
      metric_name: nameField().optional(),
      environment: optionalName().optional(),
      severity: SEVERITY,
      explanation: z.string().min(1).max(NOTE_CHARACTERS_MAX),
    }),
    responses: { 200: ANOMALY_DETAIL, 201: ANOMALY_DETAIL },
    examples: {
      body: { service_id: "checkout", severity: "high", explanation: "customers cannot pay" },
      response: ANOMALY_DETAIL_EXAMPLE,
    },
    summary: "Declares an anomaly by hand: it fires at once, whatever statistics say; 200 where it joins one that is open",
  },
]);
