import { DRILL_ANSWER_MS_MAX } from "../../core/config/drill-limits.ts";
import { declared } from "../declared.ts";
import { DRILL_BODY } from "../shapes/channel.ts";
import { DELIVERY_EXAMPLE, DRILL_ANSWER } from "../shapes/notification.ts";
import { EXAMPLE_TIME } from "../shapes/scalars.ts";

const passed = (stage: "ingest" | "detect" | "route" | "receive" | "resolve", after_ms: number) =>
  ({ stage, state: "passed", after_ms }) as const;

/** Whether people would be told. */
export const DRILL_ENDPOINTS = declared([
  {
    name: "drill",
    method: "POST",
    path: "/api/v1/drill",
    access: "operator",
    answerMsMax: DRILL_ANSWER_MS_MAX,
    body: DRILL_BODY,
    bodyOptional: true,
    responses: { 200: DRILL_ANSWER },
    errors: ["conflict", "not_found"],
    examples: {
      body: { channel: "pager" },
      response: {
        drill_id: "5d2e3f405163b1f0c5a9d2e47f6a8b0c",
        result: "passed",
        failed_stage: null,
        reason: null,
        started_at: EXAMPLE_TIME,
        duration_ms: 1210,
        stages: [passed("ingest", 9), passed("detect", 31), passed("route", 31), passed("receive", 84), passed("resolve", 1190)],
        environment: "drill-5d2e3f405163",
        anomaly_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
        alert_id: "7a1f0c5a9d2e47f6a8b0c1d2e3f40516",
        deliveries: [{ ...DELIVERY_EXAMPLE, channel: "pager" }],
      },
    },
    summary:
      "Sends a planted spike of the service vedette.drill the way of any sample, to the receivers of its page, or to one channel or those of one rule, and says how far it came; the answer comes at the end, within 160 s",
  },
]);
