import { z } from "zod";
import { RUNBOOK_DEFINITION_BYTES_MAX } from "../../core/config/runbook-limits.ts";
import { declared } from "../declared.ts";
import { choiceParameter, textParameter } from "../parameters.ts";
import {
  CANCEL_BODY,
  DECISION_BODY,
  EXECUTE_BODY,
  EXECUTION_LIST,
  EXECUTION_STATE,
  EXECUTION_VIEW,
  RUNBOOK_BODY,
  RUNBOOK_LIST,
  RUNBOOK_VIEW,
} from "../shapes/runbook.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";
import { PAGE } from "./query-shapes.ts";

const STEP = {
  name: "restart",
  type: "http",
  approval_required: true,
  method: "POST",
  url: "https://deploy.example.com/services/{{service_id}}/restart",
  headers: { Authorization: "Bearer {{secrets.token}}" },
  body: '{"reason": "{{explanation}}"}',
} as const;
const BODY = {
  id: "restart-checkout",
  name: "Restart checkout",
  match: { service_id_regex: "^checkout$", severity: ["high"] },
  steps: [STEP, { name: "tell", type: "notify", channels: ["chat:ops"], message: "restarted {{service_id}}: {{explanation}}" }],
  secrets: { token: "1f2e" },
};
const EXAMPLE = {
  id: "restart-checkout",
  name: "Restart checkout",
  revision: 1,
  digest: "5d2e3f405163b1f0c5a9d2e47f6a8b0c",
  match: {
    service_id_regex: "^checkout$",
    metric_name_regex: null,
    min_anomaly_score: 0.7,
    root_cause_category: null,
    environments: null,
    severity: ["high"],
  },
  dry_run: false,
  approval_required: false,
  auto: false,
  steps: [
    { ...STEP, headers: { Authorization: "***" }, timeout_seconds: 10, idempotent: false },
    {
      name: "tell",
      type: "notify",
      approval_required: false,
      channels: ["chat:ops"],
      message: "restarted {{service_id}}: {{explanation}}",
    },
  ],
  secrets: { token: "***" },
  paused: null,
  created_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
} as const;
const EXECUTION = {
  execution_id: "019c2f3a4b00a5d2e47f6a8b0c1d2e3f",
  runbook_id: "restart-checkout",
  runbook_name: "Restart checkout",
  revision: 1,
  digest: "5d2e3f405163b1f0c5a9d2e47f6a8b0c",
  anomaly_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
  service_id: "checkout",
  state: "pending_approval",
  dry_run: false,
  started_by: "jane@example.com",
  starter: "jane@example.com",
  pending_step: "restart",
  expires_at: "2026-02-01T12:00:00.000Z",
  created_at: EXAMPLE_TIME,
  ended_at: null,
  reason: null,
  steps: [
    {
      name: "restart",
      type: "http",
      state: "pending_approval",
      approval_required: true,
      decided_by: null,
      decided_at: null,
      comment: null,
      action: "POST a request",
      request: {
        method: "POST",
        url: "https://deploy.example.com/services/checkout/restart",
        headers: { Authorization: "***" },
        body: '{"reason": "latency is high"}',
      },
      attempts: 0,
      status_code: null,
      result: null,
      started_at: null,
      ended_at: null,
    },
  ],
} as const;
/** Common members of endpoints of one runbook, of one run, and of changes of a run. */
const OF_RUNBOOK = { parameters: { id: "id of the runbook" }, errors: ["not_found"] } as const;
const OF_EXECUTION = {
  parameters: { id: "execution_id of the run" },
  responses: { 200: EXECUTION_VIEW },
} as const;
const CHANGE_OF_EXECUTION = { ...OF_EXECUTION, method: "POST", access: "operator", errors: ["not_found", "conflict"] } as const;
const DECISION = { step: "restart", comment: "the deployment has been looked at" };

/** Endpoints of runbooks and their runs. */
export const RUNBOOKS_ENDPOINTS = declared([
  {
    name: "runbooks",
    method: "GET",
    path: "/api/v1/runbooks",
    access: "viewer",
    query: z.strictObject({ ...PAGE }),
    responses: { 200: RUNBOOK_LIST },
    examples: { response: { runbooks: [EXAMPLE], total: 1, page_token: "" } },
    summary: "Runbooks by id, without their secrets",
  },
  {
    name: "createRunbook",
    method: "POST",
    path: "/api/v1/runbooks",
    access: "admin",
    body: RUNBOOK_BODY,
    bodyBytesMax: RUNBOOK_DEFINITION_BYTES_MAX,
    responses: { 201: RUNBOOK_VIEW },
    errors: ["invalid_field", "conflict", "unprocessable"],
    examples: { body: BODY, response: EXAMPLE },
    summary: "Keeps a runbook: what is done about findings that match, step by step",
  },
  {
    name: "executions",
    method: "GET",
    path: "/api/v1/runbooks/executions",
    access: "viewer",
    query: z.strictObject({
      runbook_id: textParameter("runbook_id").optional(),
      anomaly_id: textParameter("anomaly_id").optional(),
      state: choiceParameter("state", EXECUTION_STATE.options).optional(),
      ...PAGE,
    }),
    responses: { 200: EXECUTION_LIST },
    examples: { response: { executions: [EXECUTION], total: 1, page_token: "" } },
    summary: "Runs of the last 30 days, the newest first",
  },
  {
    ...OF_EXECUTION,
    name: "execution",
    method: "GET",
    path: "/api/v1/runbooks/executions/{id}",
    access: "viewer",
    errors: ["not_found"],
    examples: { response: EXECUTION },
    summary: "One run, step by step",
  },
  {
    ...CHANGE_OF_EXECUTION,
    name: "approveStep",
    path: "/api/v1/runbooks/executions/{id}/approve",
    body: DECISION_BODY,
    errors: ["not_found", "conflict", "forbidden"],
    examples: { body: DECISION, response: { ...EXECUTION, state: "running", pending_step: null, expires_at: null } },
    summary: "Approves the step that waits, once, by somebody other than who started the run (RUNBOOK_FOUR_EYES)",
  },
  {
    ...CHANGE_OF_EXECUTION,
    name: "rejectStep",
    path: "/api/v1/runbooks/executions/{id}/reject",
    body: DECISION_BODY,
    examples: {
      body: DECISION,
      response: { ...EXECUTION, state: "rejected", pending_step: null, expires_at: null, ended_at: EXAMPLE_TIME },
    },
    summary: "Rejects the step that waits, and ends the run",
  },
  {
    ...CHANGE_OF_EXECUTION,
    name: "cancelExecution",
    path: "/api/v1/runbooks/executions/{id}/cancel",
    body: CANCEL_BODY,
    bodyOptional: true,
    examples: {
      body: { comment: "it has recovered by itself" },
      response: { ...EXECUTION, state: "cancelled", pending_step: null, expires_at: null, ended_at: EXAMPLE_TIME },
    },
    summary: "Ends a run before its next step",
  },
  {
    ...OF_RUNBOOK,
    name: "runbook",
    method: "GET",
    path: "/api/v1/runbooks/{id}",
    access: "viewer",
    responses: { 200: RUNBOOK_VIEW },
    examples: { response: EXAMPLE },
    summary: "One runbook, without its secrets",
  },
  {
    ...OF_RUNBOOK,
    name: "changeRunbook",
    method: "PUT",
    path: "/api/v1/runbooks/{id}",
    access: "admin",
    body: RUNBOOK_BODY,
    bodyBytesMax: RUNBOOK_DEFINITION_BYTES_MAX,
    responses: { 200: RUNBOOK_VIEW },
    errors: ["not_found", "invalid_field", "conflict"],
    examples: { body: BODY, response: { ...EXAMPLE, revision: 2 } },
    summary:
      "Puts another revision in its place; what is sent back as *** is unchanged. Approvals of runs of the former one are not taken any more",
  },
  {
    ...OF_RUNBOOK,
    name: "deleteRunbook",
    method: "DELETE",
    path: "/api/v1/runbooks/{id}",
    access: "admin",
    responses: { 204: null },
    summary: "Deletes a runbook; its runs stay, and what waits for an approval gets none",
  },
  {
    ...OF_RUNBOOK,
    name: "executeRunbook",
    method: "POST",
    path: "/api/v1/runbooks/{id}/execute",
    access: "operator",
    query: z.strictObject({ dry_run: choiceParameter("dry_run", ["true", "false"]).optional() }),
    body: EXECUTE_BODY,
    bodyOptional: true,
    responses: { 201: EXECUTION_VIEW },
    errors: ["not_found", "rate_limit_exceeded"],
    examples: { body: { anomaly_id: EXECUTION.anomaly_id }, response: EXECUTION },
    summary: "Runs a runbook; a dry run shows every request and sends none",
  },
]);
