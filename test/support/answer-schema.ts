// The declared schema of an answer.
import { z } from "zod";
import { endpointNamed } from "../../src/api/endpoints.ts";

/** Of the JSON body of an endpoint's success of that status, null where it has none; throws where the status is not declared. */
export function answerSchema(endpoint: string, status: number): z.ZodType {
  const schema = endpointNamed(endpoint).responses[status];
  if (schema === null) return z.null();
  if (schema instanceof z.ZodType) return schema;
  throw new RangeError(`${endpoint} declares no JSON body for ${status}`);
}
