// This API as an OpenAPI 3.1 document, made from the declarations that requests are validated by.
import { setMember } from "../../core/collections/own-member.ts";
import { ENDPOINT_GROUPS } from "../endpoints.ts";
import { type JsonObject, SchemaCollector } from "./json-schema.ts";
import { operationOf } from "./operation.ts";

const ABOUT = `Anomaly detection for one machine: telemetry in, anomalies out.

Credentials go into \`X-API-Key\`, or into \`Authorization: Bearer\`, which takes tokens and API keys; one that is wrong gets 401, never a default. From this machine reading and operating need
none while READ_AUTH is loopback, and writing telemetry needs none from anywhere while INGEST_AUTH is optional: where \`security\` has an empty requirement. Super-admins and system may name another tenant in \`X-Tenant-ID\`.

Every GET is answered as HEAD too. A method that a path does not take gets 405 with Allow. Parameters and members of bodies that are not known are refused.
Errors name a code, what is wrong, what was got and what to do; with \`Accept: application/problem+json\` they are problem details of RFC 9457.
\`since\` is inclusive and \`until\` exclusive. Lists take \`limit\` and the \`page_token\` of the page before; the token is empty on the last page.`;

const SECURITY_SCHEMES = {
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A JWT, or an API key. Its role must be the one named or above it.",
  },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "An API key; its scope says which role it acts as." },
};

/** The document, in steps of an endpoint each: all together take some 100 ms. `version` is that of the server. */
export function* openApiDocument(version: string): Generator<void, JsonObject> {
  const schemas = new SchemaCollector();
  const paths: Record<string, JsonObject> = {};
  for (const { title, endpoints } of ENDPOINT_GROUPS) {
    for (const endpoint of endpoints) {
      const path = paths[endpoint.path] ?? {};
      setMember(path, endpoint.method.toLowerCase(), operationOf(endpoint, title, schemas));
      paths[endpoint.path] = path;
      yield;
    }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Vedette", version, description: ABOUT, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    servers: [{ url: "/" }],
    tags: ENDPOINT_GROUPS.map(({ title, about }) => ({ name: title, description: about })),
    paths,
    components: { schemas: schemas.components, securitySchemes: SECURITY_SCHEMES },
  };
}
