// One endpoint of the documentation.
import type { Endpoint } from "../endpoint.ts";
import type { JsonObject } from "../openapi/json-schema.ts";
import { type Html, html, NOTHING, text } from "./html.ts";
import { membersOf, schemaText } from "./schema-text.ts";

const ACCESS_NAMES: Readonly<Record<Endpoint["access"], string>> = {
  public: "anyone",
  ingest: "INGEST_AUTH",
  viewer: "viewer",
  operator: "operator",
  admin: "admin",
  super_admin: "super-admin",
  system: "system",
};

type Row = readonly [name: string, type: string, isRequired: boolean, note: string];

/** The section; `operation` is the endpoint's part of the OpenAPI document. */
export function endpointSection(endpoint: Endpoint, operation: JsonObject, components: JsonObject): Html {
  const { name, method, path, access, summary } = endpoint;
  const searchText = `${name} ${method} ${path} ${summary} ${access}`.toLowerCase();
  return html`<section class="endpoint" id="${text(name)}" data-words="${text(searchText)}">
<h3><span class="method ${text(method.toLowerCase())}">${text(method)}</span> <code>${text(path)}</code> <a class="anchor" href="#${text(name)}" aria-label="Link to this endpoint">#</a></h3>
<p>${text(summary)}. <span class="role">${text(ACCESS_NAMES[access])}</span></p>
<p class="quiet">${text(operation.description)}</p>
${parametersTable(operation)}
${requestPart(operation, components)}
<h4>Try</h4>
<pre><code>${text(curlLine(endpoint, exampleOf(firstContent(operation.requestBody as JsonObject | undefined))))}</code></pre>
${responsesPart(operation, components)}
</section>`;
}

function table(caption: string, rows: readonly Row[]): Html {
  if (rows.length === 0) return NOTHING;
  const lines = rows.map(
    ([name, type, isRequired, note]) =>
      html`<tr><td><code>${text(name)}</code>${isRequired ? html` <b>needed</b>` : NOTHING}</td><td>${text(type)}${note === "" ? NOTHING : html`<br><span class="quiet">${text(note)}</span>`}</td></tr>`,
  );
  return html`<h4>${text(caption)}</h4>
<div class="wide"><table>${lines}</table></div>`;
}

function parametersTable(operation: JsonObject): Html {
  const parameters = (operation.parameters ?? []) as JsonObject[];
  const of = (key: string) =>
    parameters
      .filter((parameter) => parameter.in === key)
      .map(
        ({ name, required, description = "", schema }): Row => [
          String(name),
          key === "header" ? "text" : schemaText(schema as JsonObject),
          required === true,
          String(description),
        ],
      );
  return html`${table("Path", of("path"))}${table("Query", of("query"))}${table("Headers", of("header"))}`;
}

function firstContent(holder: JsonObject | undefined): JsonObject | undefined {
  return Object.values((holder?.content ?? {}) as Record<string, JsonObject>)[0];
}

function exampleOf(content: JsonObject | undefined): unknown {
  return content?.example;
}

function requestPart(operation: JsonObject, components: JsonObject): Html {
  const body = operation.requestBody as JsonObject | undefined;
  if (body === undefined) return NOTHING;
  const parts = Object.entries(body.content as Record<string, JsonObject>).map(
    ([mediaType, content]) => html`<p><code>${text(mediaType)}</code> ${holds(content)}</p>${memberTable(content, components)}`,
  );
  return html`<h4>Body</h4>
<p class="quiet">${text(body.description)}</p>
${parts}`;
}

function holds({ schema }: JsonObject): Html {
  const { description, type } = schema as JsonObject;
  return type === undefined && description !== undefined ? html`${text(description)}` : NOTHING;
}

function memberTable({ schema }: JsonObject, components: JsonObject): Html {
  return table(
    "Members",
    membersOf(schema as JsonObject, components).map(({ path, type, isRequired, note }) => [path, type, isRequired, note]),
  );
}

function responsesPart(operation: JsonObject, components: JsonObject): Html {
  const responses = Object.entries(operation.responses as Record<string, JsonObject>);
  const good = responses
    .filter(([status]) => status.startsWith("2"))
    .map(([status, response]) => successPart(status, response, components));
  const bad = responses
    .filter(([status]) => !status.startsWith("2"))
    .map(([status, { description }]) => html`<tr><td>${text(status)}</td><td>${text(String(description).replaceAll("`", ""))}</td></tr>`);
  return html`${good}
<details><summary>Errors</summary><div class="wide"><table>${bad}</table></div></details>`;
}

function successPart(status: string, response: JsonObject, components: JsonObject): Html {
  const content = firstContent(response);
  const example = exampleOf(content);
  const mediaType = Object.keys((response.content ?? {}) as JsonObject)[0];
  const shown = example === undefined ? NOTHING : html`<pre><code>${text(JSON.stringify(example, null, 2))}</code></pre>`;
  const members = content === undefined ? NOTHING : memberTable(content, components);
  return html`<h4>Answer ${text(status)}</h4>
<p class="quiet">${text(response.description)}${mediaType === undefined ? NOTHING : html` <code>${text(mediaType)}</code>`}</p>
${shown}
${members === NOTHING ? NOTHING : html`<details><summary>Members</summary>${members}</details>`}`;
}

// A request that can be pasted into a shell. $VEDETTE is the server's address, $TOKEN a credential.

/** The command; `example` is the body where there is one. */
function curlLine({ method, path, access, body, bodyTypes, takes }: Endpoint, example: unknown): string {
  const parts = ["curl", ...(method === "GET" ? [] : ["-X", method]), `"$VEDETTE${path.replaceAll(/\{[^}]+\}/g, "ID")}"`];
  if (needsCredential(access)) parts.push('-H "Authorization: Bearer $TOKEN"');
  const mediaType = takes?.[0]?.mediaType ?? (body === undefined ? undefined : (bodyTypes?.[0] ?? "application/json"));
  if (mediaType !== undefined) parts.push(`-H 'Content-Type: ${mediaType}'`);
  if (typeof example === "string") parts.push("--data-binary @FILE");
  else if (example !== undefined) parts.push(`-d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`);
  else if (mediaType !== undefined) parts.push("--data-binary @FILE");
  return parts.join(" ");
}

/** On this machine reading and operating need none, nor does writing telemetry, by the defaults of READ_AUTH and INGEST_AUTH. */
function needsCredential(access: Endpoint["access"]): boolean {
  return access === "admin" || access === "super_admin" || access === "system";
}
