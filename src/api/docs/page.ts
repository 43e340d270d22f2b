// GET /docs: the documentation as one page, from the declarations that requests are validated by and the OpenAPI document made of them.

import { createHash } from "node:crypto";
import { ownMember } from "../../core/collections/own-member.ts";
import type { Endpoint } from "../endpoint.ts";
import { ENDPOINT_GROUPS, type EndpointGroup } from "../endpoints.ts";
import type { JsonObject } from "../openapi/json-schema.ts";
import { endpointSection } from "./endpoint-section.ts";
import { type Html, html, text } from "./html.ts";
import { PAGE_SCRIPT, PAGE_STYLE } from "./page-assets.ts";

/** Only the page's own style and script run; it loads nothing, sends nothing and is framed by nobody. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src ${pinned(PAGE_STYLE)}`,
  `script-src ${pinned(PAGE_SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function pinned(content: string): string {
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}

/** The page, in steps of a group each. `document` is the OpenAPI document. */
export function* documentationPage(document: JsonObject): Generator<void, string> {
  const { info } = document as { info: { version: string; description: string } };
  const groups: Html[] = [];
  for (const group of ENDPOINT_GROUPS) {
    groups.push(groupPart(group, document));
    yield;
  }
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Vedette ${text(info.version)} API</title>
<style>${PAGE_STYLE as Html}</style>
</head>
<body>
<header><h1>Vedette ${text(info.version)} API</h1>
<label><input id="search" type="search" placeholder="Search endpoints ( / )" aria-label="Search endpoints" autocomplete="off"></label>
<span id="found" class="quiet" role="status"></span></header>
<div class="page">
<nav aria-label="Endpoints">${ENDPOINT_GROUPS.map(groupLinks)}</nav>
<main>
${info.description.split("\n\n").map((paragraph) => html`<p>${text(paragraph.replaceAll("`", ""))}</p>`)}
<p>In the examples <code>$VEDETTE</code> is the address of the server and <code>$TOKEN</code> a credential. For programs: <a href="/openapi.json">openapi.json</a>.</p>
${groups}
</main>
</div>
<script>${PAGE_SCRIPT as Html}</script>
</body>
</html>
`;
}

function groupLinks({ title, endpoints }: EndpointGroup): Html {
  const items = endpoints.map(({ name, method, path }) => html`<li><a href="#${text(name)}">${text(method)} ${text(path)}</a></li>`);
  return html`<details open><summary>${text(title)}</summary><ul>${items}</ul></details>`;
}

function groupPart({ title, about, endpoints }: EndpointGroup, document: JsonObject): Html {
  const { components } = document as { components: { schemas: JsonObject } };
  const sections = endpoints.map((endpoint) => endpointSection(endpoint, operationIn(document, endpoint), components.schemas));
  return html`<div class="group"><h2>${text(title)}</h2><p>${text(about)}</p>${sections}</div>`;
}

function operationIn(document: JsonObject, { method, path }: Endpoint): JsonObject {
  const { paths } = document as { paths: Record<string, Record<string, JsonObject>> };
  return ownMember(ownMember(paths, path), method.toLowerCase()) as JsonObject;
}
