/** Events as they are really sent against their JSON Schemas in schemas/events. */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { STREAM_EVENTS } from "../../src/api/shapes/stream-events.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

const NAMES = Object.keys(STREAM_EVENTS);

interface EventSchema {
  readonly $ref: string;
  readonly $defs: Readonly<Record<string, { readonly properties: Readonly<Record<string, object>> }>>;
}

const schemaOf = (name: string) => JSON.parse(readFileSync(`schemas/events/${name}.schema.json`, "utf8")) as EventSchema;

describe("events of /api/v1/stream", () => {
  const bench = new ServerBench();
  let client: ServerClient;
  beforeAll(async () => {
    client = new ServerClient((await bench.start({ ENGINES: "1", WATCHDOG_WARMUP_MINUTES: "0" })).origin);
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });

  it("are what their schemas say, and nothing more", async () => {
    const stream = await client.open({ path: "/api/v1/stream" });
    let text = "";
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const sent = (name: string) =>
      [...text.matchAll(new RegExp(`event: ${name}\\nid: \\d+-\\d+\\ndata: (.*)\\n\\n`, "g"))].map(([, data]) =>
        JSON.parse(data as string),
      );
    const sample = (i: number, value: number) => ({
      service_id: "spiky",
      type: "metric",
      metric_name: "queue_depth",
      value,
      timestamp: new Date(Date.now() + (i - 40) * 1000).toISOString(),
    });
    await client.postJson("/api/v1/telemetry/batch", Array.from({ length: 40 }, (_, i) => sample(i, 100 + ((i * 7) % 5)))); // biome-ignore format: one row
    await client.postJson("/api/v1/telemetry", sample(40, 4000));
    await client.postJson("/api/v1/dlq/replay", { filter: {} });
    for (const name of NAMES) await expect.poll(() => sent(name).length, { message: name, timeout: PATIENCE_MS }).toBeGreaterThan(0);
    stream.destroy();
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    for (const name of NAMES) {
      const schema = schemaOf(name);
      const validate = ajv.compile(schema);
      for (const event of sent(name)) {
        expect([validate(event), validate.errors]).toEqual([true, null]);
        const { properties } = schema.$defs[schema.$ref.replace("#/$defs/", "")] as { properties: object };
        expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(event)));
        const [first] = Object.keys(event);
        expect(validate({ ...event, [first as string]: { not: "what it was" } })).toBe(false);
      }
    }
  });
});
