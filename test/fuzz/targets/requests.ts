// What a request says outside its body: page tokens, query parameters, paths.
import { ENDPOINTS } from "../../../src/api/endpoints.ts";
import { issuePageToken, PAGE_SECRET_BYTES, readPageToken } from "../../../src/api/page-token.ts";
import { parseQuery, splitQuery } from "../../../src/api/query-parsing.ts";
import { ERROR_STATUS, type Refusal } from "../../../src/api/refusal.ts";
import { matchRoute } from "../../../src/api/route-match.ts";
import { QUERY_PARAMETERS_MAX } from "../../../src/core/config/limits.ts";
import type { InputWriter } from "../input/input-writer.ts";
import { hashName, type Random } from "../input/random.ts";
import { type FuzzTarget, magnitude, must, textTokens } from "../target.ts";

const textOf = (input: Uint8Array) => Buffer.from(input.buffer, input.byteOffset, input.length).toString("latin1");

function mustBeWhole({ code, message }: Refusal): void {
  must(code in ERROR_STATUS, `an unknown code ${code}`);
  must(message.length > 0 && message.length < 600, `a message of ${message.length} characters`);
}

/** Only a token that was issued for the query opens; it opens to what it was issued for. */
export function pageTokenTarget(): FuzzTarget {
  const secret = new Uint8Array(PAGE_SECRET_BYTES).fill(7);
  const scope = { tenant: "default", endpoint: "records", filters: { service_id: "a", limit: undefined } };
  const otherScope = { ...scope, filters: { service_id: "b" } };
  const positions = Array.from({ length: 16 }, (_, i) => [1_795_220_000_000 + i, "ab".repeat(i), i % 2 === 0]);
  const issued = new Map(positions.map((position) => [issuePageToken(secret, scope, position), JSON.stringify(position)]));
  const tokens = [...issued.keys()];
  const check = (input: Uint8Array): number => {
    const token = textOf(input);
    const opened = readPageToken(secret, scope, token);
    const expected = token === "" ? undefined : issued.get(token);
    must(
      opened.ok === (token === "" || expected !== undefined),
      opened.ok ? "a token opened that was never issued" : "an issued token did not open",
    );
    if (token !== "") must(!readPageToken(secret, otherScope, token).ok, "a token of another query opened");
    if (!opened.ok) {
      must(opened.refusal.code === "invalid_page_token", `refused as ${opened.refusal.code}`);
      return -1 - magnitude(input.length);
    }
    must(JSON.stringify(opened.value) === expected, "a token opened to another position");
    return input.length;
  };
  const write = (out: InputWriter, random: Random) => {
    out.text(random.oneIn(30) ? "" : random.pick(tokens));
  };
  return { name: "page-token", bytesMax: 256, tokens: textTokens(".", "=", "-", "_", "A", "%2E"), write, check };
}

const BEYOND_ASCII = /[^\0-\x7f]/;
const NAMES = [...new Set(ENDPOINTS.flatMap(({ query }) => Object.keys(query.shape))), "cache", "__proto__", "constructor", "toString"];
const TEXTS = [
  "2026-01-31T12:00:00Z",
  "2026-01-31T12:00:00%2B02:00",
  "1",
  "50",
  "1000",
  "1001",
  "0",
  "-1",
  "1e3",
  "0x10",
  "NaN",
  "Infinity",
  "high",
  "low",
  "critical",
  "metric",
  "log",
  "checkout",
  "",
  "%",
  "%ff",
  "%00",
  "%7B%22zone%22%3A%22a%22%7D",
  '{"a":[1]}',
  "[".repeat(70),
  "x".repeat(200),
  "%F0%9F%99%82",
];

/** The parameters of every endpoint, and every path: an answer, never an exception. Splitting has a twin. */
export function queryTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const [path = "", ...rest] = textOf(input).split("?");
    const query = rest.join("?");
    const route = matchRoute("GET", path);
    if (!route.found) mustBeWhole(route.refusal);
    const split = splitQuery(query);
    // Node reads characters beyond ASCII as bytes where a percent sign stands wrongly beside them; a client that means them escapes them.
    if (!BEYOND_ASCII.test(query)) sameAsTwin(query, split.ok ? split.value : undefined);
    if (!split.ok) {
      mustBeWhole(split.refusal);
      return -hashName(split.refusal.code) % 1000;
    }
    const place = route.found ? ENDPOINTS.findIndex(({ name }) => name === route.endpoint.name) : input.length % ENDPOINTS.length;
    const parsed = parseQuery((ENDPOINTS[place] as (typeof ENDPOINTS)[number]).name, split.value);
    if (parsed.ok) return place * 64 + Object.keys(split.value).length;
    mustBeWhole(parsed.refusal);
    return -1000 - (hashName(`${place} ${parsed.refusal.code}`) & 0xfffff);
  };
  const write = (out: InputWriter, random: Random) => {
    const { path } = random.pick(ENDPOINTS);
    const pairs = Array.from({ length: random.below(5) }, () => `${random.pick(NAMES)}=${random.pick(TEXTS)}`);
    out.text(`${path.replace("{id}", random.pick(["0".repeat(32), "%2F", "%zz", ""]))}?${pairs.join("&")}`);
  };
  return {
    name: "query",
    bytesMax: 512,
    tokens: textTokens("&", "=", "?", "+", "%2B", "/", "%", "..", ...NAMES.map((name) => `&${name}=`)),
    write,
    check,
  };
}

/** Splits at & and =, decodes + and %, and replaces what is no UTF-8, as the URL standard says for forms. */
function sameAsTwin(query: string, given: Readonly<Record<string, string>> | undefined): void {
  const expected = new Map<string, string>();
  let repeated = false;
  const pairs = (query.startsWith("?") ? query.slice(1) : query).split("&").filter((pair) => pair !== "");
  for (const text of pairs) {
    const equals = text.indexOf("=");
    const [name, value] = equals < 0 ? [text, ""] : [text.slice(0, equals), text.slice(equals + 1)];
    repeated ||= expected.has(decodeForm(name));
    expected.set(decodeForm(name), decodeForm(value));
  }
  if (repeated || expected.size > QUERY_PARAMETERS_MAX)
    return must(given === undefined, "a query with a repetition or too many parameters was split");
  must(given !== undefined, "a query was refused that the twin splits");
  const same = Object.keys(given).length === expected.size && [...expected].every(([name, value]) => given[name] === value);
  must(same, `${JSON.stringify(given)} instead of ${JSON.stringify([...expected])}`);
}

function decodeForm(text: string): string {
  const bytes: number[] = [];
  const source = Buffer.from(text.replaceAll("+", " "), "utf8").toString("latin1");
  for (let at = 0; at < source.length; at++) {
    const hex = source[at] === "%" ? /^[0-9a-fA-F]{2}/.exec(source.slice(at + 1, at + 3)) : null;
    bytes.push(hex === null ? source.charCodeAt(at) : Number.parseInt(hex[0], 16));
    if (hex !== null) at += 2;
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
}
