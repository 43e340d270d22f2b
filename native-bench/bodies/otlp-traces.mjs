// OTLP trace bodies as a collector sends them: traces of ten spans that call each other through services, a resource of seven attributes a service, four
// attributes a span, about 260 bytes each in protobuf.
import { attribute, fixed, message, string } from "./protobuf-fields.mjs";
import { seededRandom } from "./series-labels.mjs";

const services = 20;
const operations = 30;
const depth = 10;
const traceIdBytes = 16;
const spanIdBytes = 8;
const kindServer = 2;
const kindClient = 3;

const text = (key, stringValue) => ({ key, value: { stringValue } });

function resource(service) {
  const attributes = [
    text("service.name", `checkout-service-${service}`),
    text("service.version", "1.4.2"),
    text("service.instance.id", `checkout-7c9f-${service}`),
    text("deployment.environment.name", "production"),
    text("host.name", `node-${service}`),
    text("telemetry.sdk.name", "opentelemetry"),
    text("telemetry.sdk.language", "go"),
  ];
  return message(
    1,
    attributes.map((each) => attribute(1, each)),
  );
}

function span({ service, operation, isClient, isRoot, isError }) {
  const parts = [
    message(1, [Buffer.alloc(traceIdBytes)]),
    message(2, [Buffer.alloc(spanIdBytes)]),
    ...(isRoot ? [] : [message(4, [Buffer.alloc(spanIdBytes)])]),
    string(5, `GET /api/v1/resource-${operation}`),
    Buffer.from([0x30, isClient ? kindClient : kindServer]),
    fixed(7, 0n),
    fixed(8, 0n),
    attribute(9, text("http.request.method", "GET")),
    attribute(9, text("http.route", `/api/v1/resource-${operation}/{id}`)),
    attribute(9, { key: "http.response.status_code", value: { intValue: isError ? "500" : "200" } }),
    attribute(9, text("server.address", `shop-${service}.example.com`)),
    ...(isError ? [message(15, [Buffer.from([0x18, 2])])] : []),
  ];
  return message(2, parts);
}

/**
 * One body's bytes without its ids and times, and where those go. Traces begin in each service in turn; spans of a service stand together, as exporters
 * and collectors send them.
 */
function template(perRequest, random) {
  const traces = perRequest / depth;
  const plan = Array.from({ length: services }, () => []);
  for (let trace = 0; trace < traces; trace++) {
    for (let level = 0; level < depth; level++) {
      const service = Math.floor(trace + level / 2) % services;
      plan[service].push({ trace, level, service, operation: Math.floor(random() * operations) });
    }
  }
  const parts = [];
  const places = [];
  let at = 0;
  const push = (bytes) => {
    parts.push(bytes);
    at += bytes.length;
  };
  for (const [service, spans] of plan.entries()) {
    const head = resource(service);
    const encoded = spans.map((each) =>
      span({ ...each, isClient: each.level % 2 === 1, isRoot: each.level === 0, isError: random() < 0.01 }),
    );
    const scope = message(1, [string(1, "go.opentelemetry.io/contrib/instrumentation"), string(2, "0.61.0")]);
    const scopeSpans = message(2, [scope, ...encoded]);
    const whole = message(1, [head, scopeSpans]);
    const spansBytes = encoded.reduce((sum, { length }) => sum + length, 0);
    let spanAt = at + whole.length - spansBytes;
    for (const [place, bytes] of encoded.entries()) {
      places.push({ ...spans[place], ...offsets(bytes, spanAt) });
      spanAt += bytes.length;
    }
    push(whole);
  }
  return { bytes: Buffer.concat(parts), places, traces };
}

/** Places of a span's ids and times: behind its head, ids come first, in the order of their fields. */
function offsets(bytes, base) {
  const contentAt = bytes[1] < 0x80 ? 2 : 3;
  const traceAt = contentAt + 2;
  const spanAt = traceAt + traceIdBytes + 2;
  const parentAt = bytes[spanAt + spanIdBytes] === 0x22 ? spanAt + spanIdBytes + 2 : 0;
  const nameAt = parentAt === 0 ? spanAt + spanIdBytes : parentAt + spanIdBytes;
  const startAt = nameAt + 2 + bytes[nameAt + 1] + 3;
  return { traceAt: base + traceAt, spanAt: base + spanAt, parentAt: parentAt === 0 ? 0 : base + parentAt, startAt: base + startAt };
}

/** Requests of `perRequest` spans each; a round of `shards` bodies is a tenth of a second later than the one before, and no id comes twice. */
export function* otlpTraceBodies({ spans, perRequest = 2000, shards = 5, endMs }) {
  const random = seededRandom(46);
  const rounds = Math.ceil(spans / perRequest / shards);
  const templates = Array.from({ length: shards }, () => template(perRequest, random));
  let serial = 1;
  for (let round = 0; round < rounds; round++) {
    const roundMs = endMs - (rounds - 1 - round) * 100;
    for (let shard = 0; shard < shards; shard++) {
      const { bytes, places, traces } = templates[shard];
      fill(bytes, places, serial, roundMs, random);
      serial += traces;
      yield { shard, samples: perRequest, bytes: Buffer.from(bytes) };
    }
  }
}

/** Numbers traces from `serial` on; a span's id is its trace's and its level. */
function fill(bytes, places, serial, roundMs, random) {
  for (const { trace, level, traceAt, spanAt, parentAt, startAt } of places) {
    const number = serial + trace;
    bytes.writeUInt32LE((number * 2_654_435_761) >>> 0, traceAt);
    bytes.writeUInt32BE(number, traceAt + 8);
    bytes.writeUInt32BE(number, spanAt);
    bytes.writeUInt32LE(level + 1, spanAt + 4);
    if (parentAt !== 0) {
      bytes.writeUInt32BE(number, parentAt);
      bytes.writeUInt32LE(level, parentAt + 4);
    }
    const endMs = roundMs - random() * 100;
    const end = BigInt(Math.round(endMs * 1000)) * 1000n;
    bytes.writeBigUInt64LE(end - BigInt(Math.round(random() * 200_000)) * 1000n, startAt);
    bytes.writeBigUInt64LE(end, startAt + 9);
  }
}
