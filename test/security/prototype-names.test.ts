/**
 * Names of Object.prototype's members on every way into the coordinator: each endpoint's own example with such a name as a further member of each of its objects, in
 * place of each of its texts, as each parameter of its path and query. Whatever is answered, it is no failure of the server; what is stored is read again after it.
 */
import { expect, it } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { Rig } from "../support/coordinator-rig.ts";
import { withRuleWork } from "../support/rules-rig.ts";

const NAMES = ["constructor", "toString", "hasOwnProperty", "__proto__"];
const PRINCIPAL = { tenant: "default", subject: "test", role: "super_admin" } as const;
/** Those that wait for a receiver, which nobody is here. */
const LEFT_OUT = new Set(["drill", "testWebhook"]);
const OWN: readonly Endpoint[] = (ENDPOINTS as readonly Endpoint[]).filter(
  ({ handledBy, name }) => handledBy === "coordinator" && !LEFT_OUT.has(name),
);

/** A JSON text of `value` with one change at each of its places. */
function* variants(value: unknown, name: string): Generator<string> {
  const text = JSON.stringify(value);
  if (typeof value === "string") yield JSON.stringify(name);
  else if (Array.isArray(value)) {
    for (const [place, one] of value.entries())
      for (const changed of variants(one, name))
        yield `[${value.map((other, at) => (at === place ? changed : JSON.stringify(other))).join()}]`;
  } else if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    const members = (other: (key: string, member: unknown) => string) => entries.map(([key, member]) => other(key, member)).join();
    const whole = members((key, member) => `${JSON.stringify(key)}:${JSON.stringify(member)}`);
    for (const member of ['"***"', '"x"', "1", "{}"]) yield `{${whole}${whole === "" ? "" : ","}${JSON.stringify(name)}:${member}}`;
    for (const [place, one] of entries) {
      for (const changed of variants(one, name))
        yield `{${members((key, member) => `${JSON.stringify(key)}:${key === place ? changed : JSON.stringify(member)}`)}}`;
    }
  } else yield text;
}

const pathOf = ({ path }: Endpoint, value: string) =>
  Object.fromEntries([...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => [name as string, value]));

async function answersOf(rig: Rig, endpoint: Endpoint, name: string): Promise<string[]> {
  const failed: string[] = [];
  const ask = async (what: string, content: string | undefined, query: Record<string, string> = {}, path = pathOf(endpoint, "w1")) => {
    const { status, body } = await withRuleWork(rig, rig.askAs(PRINCIPAL, endpoint.name, { content, query, path }));
    if (status >= 500 && status !== 503 && status !== 501) failed.push(`${endpoint.name} ${what}: ${status} ${JSON.stringify(body)}`);
  };
  const body = endpoint.examples?.body;
  const text = body === undefined ? undefined : JSON.stringify(body);
  await ask("path", text, {}, pathOf(endpoint, name));
  for (const key of Object.keys(endpoint.query.shape)) await ask(`query ${key}`, text, { [key]: name });
  if (body !== undefined) for (const changed of variants(body, name)) await ask(changed, changed);
  return failed;
}

it.each(NAMES)("%s is a name as others are, on each way in", async (name) => {
  const rig = await Rig.open();
  const failed: string[] = [];
  for (const endpoint of OWN) failed.push(...(await answersOf(rig, endpoint, name)));
  expect(failed).toEqual([]);
  await rig.drain();
  for (const endpoint of OWN.filter(({ method, path }) => method === "GET" && !path.includes("{"))) {
    const { status } = await rig.askAs(PRINCIPAL, endpoint.name);
    expect([endpoint.name, status < 500 || status === 503]).toEqual([endpoint.name, true]);
  }
  await rig.restarted();
});
