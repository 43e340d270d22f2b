// Error answers: ours, and RFC 9457 where the client asks for it (api/error-answer.ts).
import { z } from "zod";
import { ERROR_STATUS, type ErrorCode } from "../refusal.ts";

const CODE = z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]);
const POSITION_MEMBERS = {
  request_id: z.string().describe("names the request in the log and in the audit log"),
  field: z.string().optional().describe("the parameter or member at fault; members of members with dots between"),
  index: z.int().min(0).optional().describe("place in an array, from 0"),
};

export const ERROR = z
  .strictObject({
    status: z.literal("error"),
    error: CODE,
    message: z.string().describe("what is wrong, what was got, what to do"),
    ...POSITION_MEMBERS,
  })
  .meta({ id: "Error" });

/** An error as problem details. */
export const PROBLEM = z
  .strictObject({
    type: z.literal("about:blank"),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    error: CODE,
    ...POSITION_MEMBERS,
  })
  .meta({ id: "Problem" });
