// Logs of OTLP in protobuf: requests of 500 lines of 20 services, a few texts with numbers in them, three attributes a line. No line comes twice: times differ.
import { attribute, fixed, message, string } from "./protobuf-fields.mjs";

const services = 20;
const texts = ["order placed", "payment took %d ms", "cache miss for key %d", "connection to 10.0.0.%d refused"];
const nanosecondsApart = 1_000n;

/** LogRecord {1: time, 2: severity number, 3: its text, 5: body, 6: attribute}. */
function line(/** @type {bigint} */ time, /** @type {number} */ number) {
  const severity = number % 50 === 0 ? 17 : 9;
  const text = texts[number % texts.length].replace("%d", String(number % 251));
  return message(2, [
    fixed(1, time),
    Buffer.from([0x10, severity]),
    string(3, severity === 17 ? "ERROR" : "INFO"),
    message(5, [string(1, text)]),
    attribute(6, { key: "http.route", value: { stringValue: `/route/${number % 30}` } }),
    attribute(6, { key: "thread", value: { intValue: String(number % 8) } }),
    attribute(6, { key: "code.namespace", value: { stringValue: "com.example.orders" } }),
  ]);
}

/** Requests of `perRequest` lines each, of one service after the other. */
export function* otlpLogBodies({ logs, perRequest = 500, shards = 5, endMs }) {
  const requests = Math.ceil(logs / perRequest);
  const first = BigInt(endMs) * 1_000_000n - BigInt(requests * perRequest) * nanosecondsApart;
  for (let request = 0; request < requests; request++) {
    const service = request % services;
    const resource = message(1, [
      attribute(1, { key: "service.name", value: { stringValue: `service-${service}` } }),
      attribute(1, { key: "service.instance.id", value: { stringValue: `service-${service}-1` } }),
    ]);
    const lines = Array.from({ length: perRequest }, (_, i) => {
      const number = request * perRequest + i;
      return line(first + BigInt(number) * nanosecondsApart, number);
    });
    const scope = message(1, [string(1, "com.example.logging")]);
    yield { shard: request % shards, samples: perRequest, bytes: message(1, [resource, message(2, [scope, ...lines])]) };
  }
}
