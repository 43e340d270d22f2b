import { describe, expect, it } from "vitest";
import { CATALOG_DOCUMENT_CHARACTERS_MAX, CATALOG_TOKENS_MAX } from "../../../../src/core/config/declaration-limits.ts";
import { labelOfOwner } from "../../../../src/domain/catalog/catalog-entity.ts";
import { CatalogError, type CatalogFormat, isLabel, readCatalog } from "../../../../src/domain/catalog/catalog-reader.ts";

const entitiesOf = (text: string, format: CatalogFormat) => [...readCatalog(text, format)].filter((entity) => entity !== null);

/** What each entity gives: "name key=value", or its reason. */
function readings(text: string, format: CatalogFormat = "yaml"): string[] {
  return entitiesOf(text, format).map(({ entity }) => (isLabel(entity) ? `${entity.name} ${entity.key}=${entity.value}` : entity.reason));
}

const component = (name: string, owner: string, more = "") =>
  `apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: ${name}\n${more}spec:\n  type: service\n  owner: ${owner}\n`;

describe("owner references", () => {
  const cases: Array<[reference: string, expected: string]> = [
    ["payments", "team=payments"],
    ["group:payments", "team=payments"],
    ["GROUP:Payments", "team=Payments"],
    ["group:default/payments", "team=payments"],
    ["Group:Default/payments", "team=payments"],
    ["default/payments", "team=payments"],
    ["group:retail/payments", "team=retail/payments"],
    ["retail/payments", "team=retail/payments"],
    ["user:jane", "owner=jane"],
    ["user:default/jane.doe", "owner=jane.doe"],
    ["user:guests/jane", "owner=guests/jane"],
    ["  group:payments ", "team=payments"],
    ["group:__proto__", "team=__proto__"],
  ];
  it.each(cases)("%s is %s", (reference, expected) => {
    const label = labelOfOwner(reference, "default");
    expect(typeof label === "string" ? label : `${label.key}=${label.value}`).toBe(expected);
  });

  it("without a namespace are of the entity's own", () => {
    expect(labelOfOwner("payments", "retail")).toEqual({ key: "team", value: "retail/payments" });
    expect(labelOfOwner("group:default/payments", "retail")).toEqual({ key: "team", value: "payments" });
  });

  it.each([
    "",
    ":",
    "group:",
    ":payments",
    "/payments",
    "group:/payments",
    "a/b/c",
    "a:b:c",
    "component:web",
    "constructor:x",
    "__proto__:x",
  ])("%j is refused", (reference) => expect(labelOfOwner(reference, "default")).toBeTypeOf("string"));

  it("with control characters are refused: a label may end up in a header", () => {
    expect(labelOfOwner("pay\r\nX-Evil: 1", "default")).toBeTypeOf("string");
    expect(labelOfOwner("pay\u0000ments", "default")).toContain("control characters");
    expect(labelOfOwner("x".repeat(1025), "default")).toContain("too long");
  });
});

describe("catalogs", () => {
  const cases: Array<[title: string, text: string, expected: string[]]> = [
    ["one document", component("checkout", "payments"), ["checkout team=payments"]],
    ["several documents", `---\n${component("a", "x")}---\n${component("b", "user:y")}`, ["a team=x", "b owner=y"]],
    [
      "documents with ends, directives and comments",
      `%YAML 1.2\n--- # first\n${component("a", "x")}...\n# nothing\n---\n---\n`,
      ["a team=x"],
    ],
    ["content on the line of a marker", `--- {kind: Component, metadata: {name: a}, spec: {owner: x}}\n`, ["a team=x"]],
    [
      "a tab behind a marker",
      `---\t{kind: Component, metadata: {name: a}, spec: {owner: x}}\n--- \t\n${component("b", "y")}`,
      ["a team=x", "b team=y"],
    ],
    ["carriage returns and a byte order mark", `\uFEFF${`---\n${component("a", "x")}`.replaceAll("\n", "\r\n")}`, ["a team=x"]],
    ["a marker within a block scalar of another indent", component("a", "x", "  description: |\n    ---\n    text\n"), ["a team=x"]],
    [
      "a list of entities in one document",
      `- ${component("a", "x").trim().replaceAll("\n", "\n  ")}\n- 5\n`,
      ["a team=x", "not_an_entity"],
    ],
    ["anchors and aliases", component("a", "*o", "  labels: {o: &o x}\n"), ["a team=x"]],
    ["other kinds", component("a", "x").replace("Component", "API"), ["other_kind"]],
    ["locations, which are not followed", "kind: Location\nspec: {target: file:///etc/passwd}\n", ["other_kind"]],
    ["no owner", "kind: Component\nmetadata: {name: a}\nspec: {}\n", ["missing_owner"]],
    ["no spec", "kind: Component\nmetadata: {name: a}\n", ["missing_owner"]],
    ["an owner that is no text", "kind: Component\nmetadata: {name: a}\nspec: {owner: [x]}\n", ["invalid_owner"]],
    ["no name", "kind: Component\nmetadata: {}\nspec: {owner: x}\n", ["missing_name"]],
    ["a number for a name", "kind: Component\nmetadata: {name: 5}\nspec: {owner: x}\n", ["missing_name"]],
    ["a name with a line break", 'kind: Component\nmetadata: {name: "a\\nb"}\nspec: {owner: x}\n', ["invalid_name"]],
    ["a path for a name, which is a name", component("../../etc/passwd", "x"), ["../../etc/passwd team=x"]],
    [
      "the same name in another namespace",
      `${component("a", "x")}---\n${component("a", "y", "  namespace: n\n")}`,
      ["a team=x", "duplicate"],
    ],
    ["a namespace of its own", component("a", "x", "  namespace: retail\n"), ["a team=retail/x"]],
    ["scalars", "--- hello\n--- 5\n--- null\n", ["not_an_entity", "not_an_entity", "not_an_entity"]],
    ["names of prototypes", component("__proto__", "constructor"), ["__proto__ team=constructor"]],
  ];
  it.each(cases)("take %s", (_title, text, expected) => expect(readings(text)).toEqual(expected));

  it("say where an entity stands", () => {
    const places = entitiesOf(`# a comment\n---\n${component("a", "x")}---\n\n${component("b", "y")}`, "yaml").map(({ index, line }) => [
      index,
      line,
    ]);
    expect(places).toEqual([
      [0, 2],
      [1, 10],
    ]);
  });

  const json: Array<[title: string, value: unknown, expected: string[]]> = [
    ["an entity", { kind: "Component", metadata: { name: "a" }, spec: { owner: "x" } }, ["a team=x"]],
    [
      "an array",
      [{ kind: "Component", metadata: { name: "a" }, spec: { owner: "user:x" } }, 7, null, []],
      ["a owner=x", "not_an_entity", "not_an_entity", "not_an_entity"],
    ],
    [
      "a page of Backstage's API",
      { items: [{ kind: "component", metadata: { name: "a" }, spec: { owner: "x" } }], totalItems: 1 },
      ["a team=x"],
    ],
    ["nothing", [], []],
  ];
  it.each(json)("in JSON: %s", (_title, value, expected) => expect(readings(JSON.stringify(value), "json")).toEqual(expected));

  it.each(["", "{", "5", "null", '"text"'])("%j is no catalog in JSON", (text) => {
    expect(() => readings(text, "json")).toThrow(CatalogError);
  });
});

describe("hostile catalogs", () => {
  const laughs = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(",")}]`).join("\n");
  const good = component("good", "x");
  const cases: Array<[title: string, text: string, reason: string]> = [
    ["a billion laughs", `a0: &a0 [x]\n${laughs}\nkind: Component\n`, "unreadable"],
    ["an alias of itself", "a: &a [*a]\n", "not_an_entity"],
    ["an alias of nothing", "a: *b\n", "unreadable"],
    ["a tag of another language", "a: !!js/function 'x'\n", "unreadable"],
    ["a tag of its own", "!evil {a: 1}\n", "unreadable"],
    ["flow sequences, deep", "[".repeat(50_000), "too_large"],
    ["flow maps, deep", "{a: ".repeat(50_000), "too_large"],
    ["block sequences, deep", "- ".repeat(50_000), "too_large"],
    ["explicit keys, deep", "? ".repeat(50_000), "too_large"],
    ["many tokens", `[${"a,".repeat(CATALOG_TOKENS_MAX)}]`, "too_large"],
    ["many keys", Array.from({ length: CATALOG_TOKENS_MAX }, (_, i) => `k${i}: 1`).join("\n"), "too_large"],
    ["a long document", `a: ${"x".repeat(CATALOG_DOCUMENT_CHARACTERS_MAX)}`, "too_large"],
    ["a key twice", "kind: Component\nkind: API\n", "unreadable"],
    ["a tab for an indent", "a:\n\tb: 1\n", "unreadable"],
    ["a quote that never ends", '"a', "unreadable"],
    ["control characters", "a: \u0000\u0007\n- b", "unreadable"],
  ];
  it.each(cases)("%s: refused, and what follows is read", (_title, text, reason) => {
    expect(readings(`${text}\n---\n${good}`)).toEqual([reason, "good team=x"]);
  });

  it("with keys of prototypes change no prototype and hide no member", () => {
    const text = "__proto__: {kind: Component, polluted: 1}\nconstructor: {prototype: {polluted: 1}}\nmetadata: {__proto__: {name: a}}\n";
    expect(readings(text)).toEqual(["not_an_entity"]);
    expect(readings('{"__proto__": {"kind": "Component", "polluted": 1}}', "json")).toEqual(["not_an_entity"]);
    expect(readings('{"kind": "Component", "metadata": {"__proto__": {"name": "a"}}}', "json")).toEqual(["missing_name"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("with a deep or a long JSON text are refused before they are parsed", () => {
    expect(() => readings(`${"[".repeat(100_000)}"\\ud800"${"]".repeat(100_000)}`, "json")).toThrow(/levels deep/);
    expect(() => readings(`[${"{},".repeat(1_400_000)}{}]`, "json")).toThrow(/more than 10000 entries/);
  });

  it("with half a character in a name are refused", () => {
    expect(readings('{"kind": "Component", "metadata": {"name": "a\\ud800"}, "spec": {"owner": "x"}}', "json")).toEqual(["invalid_name"]);
    expect(readings('{"kind": "Component", "metadata": {"name": "a"}, "spec": {"owner": "x\\ud800"}}', "json")).toEqual(["invalid_owner"]);
  });
});
