// Odd bodies for an endpoint, made of its declaration: each shape that costs a parser or a validation more than its bytes, up to the bytes that the endpoint takes.
import { z } from "zod";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { OBJECT_BODY_BYTES_MAX } from "../../src/core/config/body-limits.ts";

/** A body and what is odd in it. */
export interface OddBody {
  readonly what: string;
  readonly body: string;
}

/** `element`, as often as fits, between two texts. */
function filled(before: string, element: string, after: string, bytes: number): string {
  const times = Math.max(1, Math.floor((bytes - before.length - after.length) / element.length));
  return `${before}${element.repeat(times).slice(0, -1)}${after}`;
}

/** Members that a body has by its schema. */
function membersOf({ body }: Endpoint): readonly string[] {
  return body instanceof z.ZodObject ? Object.keys(body.def.shape) : [];
}

/** The odd bodies of an endpoint; each takes up to `bytes`, or what the endpoint takes where that is less. */
export function oddBodies(endpoint: Endpoint, bytes: number): OddBody[] {
  const max = Math.min(bytes, endpoint.bodyBytesMax ?? OBJECT_BODY_BYTES_MAX);
  const whole: OddBody[] = [
    { what: "a list of empty objects", body: filled("[", "{},", "]", max) },
    { what: "lists within lists", body: "[".repeat(max) },
    { what: "objects within objects", body: '{"a":'.repeat(Math.floor(max / 5)) },
    { what: "members of one name", body: filled("{", '"a":1,', "}", max) },
    { what: "members of many names", body: `{${Array.from({ length: Math.floor(max / 16) }, (_, i) => `"l${i}":1`).join(",")}}` },
    { what: "one long text", body: `"${"x".repeat(max - 2)}"` },
    { what: "a text of escapes", body: filled('{"a":"', "\\u0041", '""}', max) },
    { what: "numbers of a thousand digits", body: filled("[", `${"7".repeat(1_000)},`, "]", max) },
    { what: "names of prototypes", body: '{"__proto__":{"a":1},"constructor":{"prototype":{}},"toString":1,"hasOwnProperty":[]}' },
    { what: "space", body: " ".repeat(max) },
    { what: "half of a text", body: `{"a":"${"x".repeat(max - 6)}` },
  ];
  const inMembers = membersOf(endpoint).flatMap((name) => [
    { what: `a list of empty objects in ${name}`, body: filled(`{"${name}":[`, "{},", "]}", max) },
    { what: `a list of numbers in ${name}`, body: filled(`{"${name}":[`, "1,", "]}", max) },
    {
      what: `few of each, deep in ${name}`,
      body: `{"${name}":${filled("[", `{"add":[{},{}],"a":[[[[[[1]]]]]]},`, "]", Math.min(max, 60_000))}}`,
    },
    { what: `many members in ${name}`, body: filled(`{"${name}":{`, '"a":1,', "}}", max) },
  ]);
  return [...whole, ...inMembers];
}
