/** What the server says of its API: the OpenAPI document and the page for people. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENDPOINT_GROUPS, ENDPOINTS } from "../../src/api/endpoints.ts";
import { pathParameterNames } from "../../src/api/openapi/operation.ts";
import { ERROR_STATUS } from "../../src/api/refusal.ts";
import { ENGINES } from "../support/http-exchanges.ts";
import { type Answer, ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

describe.each(ENGINES)("documents over $kind", ({ kind, skipped }) => {
  const bench = new ServerBench();
  let client: ServerClient;
  let openapi: Answer;
  let docs: Answer;
  beforeAll(async () => {
    if (skipped) return;
    client = new ServerClient((await bench.start({ HTTP_ENGINE: kind, ENGINES: "1", READ_AUTH: "required" })).origin);
    [openapi, docs] = await Promise.all([client.get("/openapi.json"), client.get("/docs")]);
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });

  it.skipIf(skipped)("the OpenAPI document is valid, and has every endpoint once", async () => {
    expect(await new Validator().validate(openapi.json())).toMatchObject({ valid: true });
    const operations = Object.entries(openapi.json().paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, { operationId: string }>).map(([method, { operationId }]) => ({
        operationId,
        method,
        path,
      })),
    );
    const declared = ENDPOINTS.map(({ name, method, path }) => ({ operationId: name, method: method.toLowerCase(), path }));
    const byName = (a: { operationId: string }, b: { operationId: string }) => (a.operationId < b.operationId ? -1 : 1);
    expect(operations.sort(byName)).toEqual(declared.sort(byName));
    expect(openapi.json().components.schemas.Error.properties.error.enum).toEqual(Object.keys(ERROR_STATUS));
  });

  it.skipIf(skipped)("the page names every endpoint, and refers to no other host", () => {
    for (const { name, path, method } of ENDPOINTS) {
      expect(docs.text).toContain(`id="${name}"`);
      expect(docs.text).toMatch(new RegExp(`>${method}</span> <code>${path.replaceAll(/[{}]/g, "\\$&")}</code>`));
    }
    const references = [...docs.text.matchAll(/\b(?:src|href|action|srcset|poster|data)="([^"]*)"/g)].map(([, target]) => target as string);
    expect(references.filter((target) => !target.startsWith("#") && target !== "/openapi.json")).toEqual([]);
    // Examples of bodies name receivers (RFC 2606): texts, no references.
    expect(docs.text.replaceAll(/https:\/\/[a-z]+\.example\.com/g, "")).not.toMatch(
      /\b(?:https?:)?\/\/[a-z0-9-]+\.[a-z]|@import|url\(|\son[a-z]+=/i,
    );
    expect(docs.text).not.toMatch(/\bundefined\b|\[object/);
  });

  it.skipIf(skipped)("the page runs its own script and style alone", () => {
    const policy = docs.headers["content-security-policy"] as string;
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^ ;]+'; script-src 'sha256-[^ ;]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(docs.text.match(/<script/g)).toHaveLength(1);
    expect(docs.text).not.toMatch(/\sstyle="/);
  });

  it.skipIf(skipped)("both are asked again by their tag, and by HEAD", async () => {
    for (const [path, whole] of [
      ["/openapi.json", openapi],
      ["/docs", docs],
    ] as const) {
      expect(whole.status).toBe(200);
      const tag = whole.headers.etag as string;
      expect(tag).toMatch(/^"[\w-]+"$/);
      expect(await client.get(path, { "If-None-Match": `W/${tag}, "other"` })).toMatchObject({ status: 304, text: "" });
      expect((await client.get(path, { "If-None-Match": '"other"' })).status).toBe(200);
      const head = await client.ask({ method: "HEAD", path });
      expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", String(Buffer.byteLength(whole.text))]);
    }
  });
});

describe("declarations", () => {
  it("are in one room each", () => {
    const placed = ENDPOINT_GROUPS.flatMap(({ endpoints }) => endpoints.map(({ name }) => name));
    expect([...placed].sort()).toEqual(ENDPOINTS.map(({ name }) => name).sort());
  });

  it.each(ENDPOINTS)("say what their parameters are, and show bodies that are true: $method $path", (endpoint) => {
    const { body, responses, examples, parameters = {} } = endpoint as import("../../src/api/endpoint.ts").Endpoint;
    expect(Object.keys(parameters)).toEqual(pathParameterNames(endpoint));
    if (body !== undefined) expect(body.safeParse(examples?.body), "examples.body").toMatchObject({ success: true });
    const isShown = (status: string) => status.startsWith("2") && endpoint.name !== "openapi";
    const schemas = Object.entries(responses).flatMap(([status, each]) => (isShown(status) && each !== null ? [each] : []));
    if (schemas.length === 0) return;
    expect(
      schemas.some((schema) => schema.safeParse(examples?.response).success),
      "examples.response",
    ).toBe(true);
  });
});
