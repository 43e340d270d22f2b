// A small real service under the OpenTelemetry SDK: GET / asks its upstream, where it has one, and answers; everything about it goes out over OTLP.
//   node instrumented-service.cjs <service name> <OTLP endpoint> <http | proto> <delta | cumulative> [upstream]
// Prints its port once it listens. A line on stdin has it flush and print "flushed"; the end of stdin ends it.
const [name, endpoint, encoding, temporality, upstream] = process.argv.slice(2);
const { trace, SpanStatusCode } = require("@opentelemetry/api");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } = require("@opentelemetry/sdk-metrics");
const { BatchSpanProcessor, NodeTracerProvider } = require("@opentelemetry/sdk-trace-node");
const { BatchLogRecordProcessor, LoggerProvider } = require("@opentelemetry/sdk-logs");
const { registerInstrumentations } = require("@opentelemetry/instrumentation");
const { HttpInstrumentation } = require("@opentelemetry/instrumentation-http");
const exporters = {
  http: [
    require("@opentelemetry/exporter-metrics-otlp-http").OTLPMetricExporter,
    require("@opentelemetry/exporter-trace-otlp-http").OTLPTraceExporter,
    require("@opentelemetry/exporter-logs-otlp-http").OTLPLogExporter,
  ],
  proto: [
    require("@opentelemetry/exporter-metrics-otlp-proto").OTLPMetricExporter,
    require("@opentelemetry/exporter-trace-otlp-proto").OTLPTraceExporter,
    require("@opentelemetry/exporter-logs-otlp-proto").OTLPLogExporter,
  ],
};
const [MetricExporter, TraceExporter, LogExporter] = exporters[encoding];
const compression = encoding === "proto" ? "gzip" : "none";
const target = (signal) => ({ url: `${endpoint}/v1/${signal}`, compression });

const resource = resourceFromAttributes({ "service.name": name, "service.version": "1.2.3", "deployment.environment.name": "test" });
const temporalityPreference = AggregationTemporality[temporality.toUpperCase()];
const reader = new PeriodicExportingMetricReader({
  exporter: new MetricExporter({ ...target("metrics"), temporalityPreference }),
  exportIntervalMillis: 3_600_000,
});
const meters = new MeterProvider({ resource, readers: [reader] });
const tracers = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(new TraceExporter(target("traces")))] });
tracers.register();
const loggers = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter: new LogExporter(target("logs")) })] });
// The exporters' own requests are no part of the service.
const ignoreOutgoingRequestHook = ({ path }) => path.startsWith("/v1/");
registerInstrumentations({
  tracerProvider: tracers,
  meterProvider: meters,
  instrumentations: [new HttpInstrumentation({ ignoreOutgoingRequestHook })],
});

const http = require("node:http");
const meter = meters.getMeter("shop");
const orders = meter.createCounter("orders", { description: "Orders taken" });
const basket = meter.createHistogram("basket.size", { advice: { explicitBucketBoundaries: [1, 2, 5, 10] } });
meter.createObservableGauge("queue.depth").addCallback((observed) => observed.observe(7));
const logger = loggers.getLogger("shop");
let served = 0;

const server = http.createServer((request, response) => {
  served++;
  orders.add(2, { region: "eu" });
  basket.record(served % 10);
  logger.emit({ severityNumber: 9, severityText: "INFO", body: `order ${served} taken from 10.0.0.${served}` });
  const answer = (text) => {
    if (request.url === "/broken") trace.getActiveSpan()?.setStatus({ code: SpanStatusCode.ERROR });
    response.statusCode = request.url === "/broken" ? 500 : 200;
    response.end(text);
  };
  if (upstream === undefined) answer("here");
  else http.get(`${upstream}${request.url}`, (inner) => inner.resume().on("end", () => answer("through")));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("data", async () => {
  await Promise.all([reader.forceFlush(), tracers.forceFlush(), loggers.forceFlush()]);
  console.log("flushed");
});
process.stdin.on("end", () => process.exit(0));
