// Bodies of every kind of odd content for every endpoint that takes one, as an administrator, a viewer and nobody: the example of the endpoint's declaration with a
// member that is something else, and what is no such object at all.
import { gzipSync } from "node:zlib";
import { Pool } from "undici";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { Random } from "../fuzz/input/random.ts";
import type { Disturbance, DisturbanceTarget } from "./disturbance.ts";
import { oddBytes, oddJson, oddText } from "./odd-values.ts";

const STREAM = 3;
const TIMEOUT_MS = 20_000;
const BOMB_BYTES = 8 * 1024 * 1024;
const NONE: Readonly<Record<string, string>> = {};
const ALL: readonly Endpoint[] = ENDPOINTS;
const WITH_BODY = ALL.filter(({ method }) => method !== "GET");

interface OddBody {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** A JSON text with one of its members, at any depth, replaced; undefined where it has none. */
function withOddMember(content: unknown, random: Random): string | undefined {
  const marker = `odd ${random.next()}`;
  const paths: Array<() => void> = [];
  const copy = JSON.parse(JSON.stringify(content));
  const walk = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      paths.push(() => {
        (value as Record<string, unknown>)[key] = marker;
      });
      walk(each);
    }
  };
  walk(copy);
  if (paths.length === 0) return undefined;
  random.pick(paths)();
  return JSON.stringify(copy).replace(JSON.stringify(marker), () => oddJson(random));
}

function oddBody({ examples, takes }: Endpoint, random: Random): OddBody {
  const example = examples?.body ?? takes?.find(({ mediaType }) => mediaType === "application/json")?.example;
  const headers = { "Content-Type": random.oneIn(12) ? "text/plain" : "application/json" };
  const mutated = example === undefined || random.oneIn(4) ? undefined : withOddMember(example, random);
  if (mutated !== undefined) return { bytes: Buffer.from(mutated), headers };
  if (random.oneIn(40)) return { bytes: gzipSync(Buffer.alloc(BOMB_BYTES, "[{},")), headers: { ...headers, "Content-Encoding": "gzip" } };
  if (random.oneIn(5)) return { bytes: oddBytes(random), headers };
  return { bytes: Buffer.from(oddJson(random)), headers };
}

function pathOf({ path }: Endpoint, random: Random): string {
  return path.replaceAll(
    /\{\w+\}/g,
    () => encodeURIComponent(random.oneIn(3) ? Buffer.from(oddText(random).slice(0, 300)).toString() : "none") || "none",
  );
}

/** Makes the disturbance. */
export function oddBodies({ ports, seed, admin, viewer }: DisturbanceTarget): Disturbance {
  const pool = new Pool(`http://127.0.0.1:${ports.http}`, { connections: 4, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  return {
    name: "odd bodies",
    perSecond: 15,
    once: async (number) => {
      const random = new Random();
      random.start(seed, STREAM, number);
      const endpoint = random.pick(WITH_BODY);
      const { bytes, headers } = oddBody(endpoint, random);
      const who = random.pick([admin, admin, admin, viewer, NONE]);
      const answer = await pool.request({
        method: endpoint.method,
        path: pathOf(endpoint, random),
        headers: { ...headers, ...who },
        body: bytes,
      });
      await answer.body.dump();
      return answer.statusCode;
    },
    close: () => void pool.destroy(),
  };
}
