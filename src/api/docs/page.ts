// GET /docs: the documentation as one page, from the declarations that requests are validated by and the OpenAPI document made of them.
// Style and script of the documentation, in the page itself: it loads nothing, and its Content-Security-Policy names the hashes of these two.

import { createHash } from "node:crypto";
import { ownMember } from "../../core/collections/own-member.ts";
import type { Endpoint } from "../endpoint.ts";
import { ENDPOINT_GROUPS, type EndpointGroup } from "../endpoints.ts";
import type { JsonObject } from "../openapi/json-schema.ts";
import { endpointSection } from "./endpoint-section.ts";
import { type Html, html, text } from "./html.ts";

/** System colours by media query; no font is loaded. */
const PAGE_STYLE = `
:root { color-scheme: light dark; --text: #1c2430; --quiet: #566173; --back: #ffffff; --panel: #f3f5f8; --line: #d5dbe3; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --text: #e2e7ee; --quiet: #9aa6b6; --back: #11161d; --panel: #1a212b; --line: #303a47; --link: #7db7f5; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 5rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; color: var(--text); background: var(--back); font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--link); }
header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; padding: 0.6rem 1rem; background: var(--panel); border-bottom: 1px solid var(--line); }
h1 { margin: 0; font-size: 1.1rem; }
header label { flex: 1 1 12rem; }
input { width: 100%; min-height: 2.75rem; padding: 0.4rem 0.7rem; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 6px; font: inherit; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.page { display: grid; grid-template-columns: 1fr; gap: 1rem; max-width: 84rem; margin: 0 auto; padding: 1rem; }
nav ul { margin: 0 0 0.8rem; padding: 0; list-style: none; }
nav li a { display: block; padding: 0.15rem 0; overflow-wrap: anywhere; font-size: 0.85rem; text-decoration: none; }
nav summary { font-weight: 600; }
.endpoint { margin: 1rem 0 2rem; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; }
h3 { margin: 0 0 0.5rem; overflow-wrap: anywhere; font-size: 1.05rem; }
h4 { margin: 1rem 0 0.3rem; font-size: 0.9rem; }
.method { padding: 0.1rem 0.45rem; border: 1px solid currentColor; border-radius: 4px; font-size: 0.8rem; }
.role { padding: 0.05rem 0.5rem; background: var(--panel); border: 1px solid var(--line); border-radius: 1rem; font-size: 0.8rem; white-space: nowrap; }
.quiet { color: var(--quiet); font-size: 0.9rem; }
.wide, pre { overflow-x: auto; }
pre { margin: 0.3rem 0; padding: 0.7rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; }
code { font: 0.9em/1.5 ui-monospace, monospace; }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
td { padding: 0.3rem 0.6rem 0.3rem 0; border-top: 1px solid var(--line); vertical-align: top; }
td b { font-weight: 600; font-size: 0.75rem; }
summary { cursor: pointer; min-height: 1.8rem; }
[hidden] { display: none; }
@media (min-width: 60rem) { .page { grid-template-columns: 16rem minmax(0, 1fr); } nav { position: sticky; top: 5rem; max-height: calc(100vh - 6rem); overflow-y: auto; } }
`;

/** The search box: sections without all of its words are hidden; "/" goes to it. */
const PAGE_SCRIPT = `
"use strict";
const search = document.querySelector("#search");
const found = document.querySelector("#found");
const sections = [...document.querySelectorAll(".endpoint")];
const groups = [...document.querySelectorAll(".group")];
const links = [...document.querySelectorAll("nav li")];
function filter() {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const shown = new Set();
  for (const section of sections) {
    const matches = words.every((word) => section.dataset.words.includes(word));
    section.hidden = !matches;
    if (matches) shown.add(section.id);
  }
  for (const group of groups) group.hidden = !group.querySelector(".endpoint:not([hidden])");
  for (const link of links) link.hidden = !shown.has(link.firstElementChild.hash.slice(1));
  found.textContent = words.length === 0 ? "" : shown.size + " of " + sections.length + " endpoints";
}
search.addEventListener("input", filter);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === search) return;
  event.preventDefault();
  search.focus();
});
filter();
`;

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
