// OpenTelemetry's own exporters, over HTTP in both encodings and over gRPC: gauges and log lines whose export the exporter calls a success are acknowledged.
import { OTLPLogExporter as GrpcLogs } from "@opentelemetry/exporter-logs-otlp-grpc";
import { OTLPLogExporter as JsonLogs } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtoLogs } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPMetricExporter as GrpcMetrics } from "@opentelemetry/exporter-metrics-otlp-grpc";
import { OTLPMetricExporter as JsonMetrics } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtoMetrics } from "@opentelemetry/exporter-metrics-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { LoggerProvider, type LogRecordExporter, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { MeterProvider, MetricReader, type PushMetricExporter, type ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { ChaosPorts, ChaosServer } from "./chaos-server.ts";
import type { Ledger } from "./ledger.ts";

const PERIOD_MS = 500;
const TIMEOUT_MS = 8_000;
const METRIC = "queue.depth";
const SUCCESS = 0;

/** A kind of exporter. */
export type OtelKind = "json" | "proto" | "grpc";

/** A reader that collects when it is asked. */
class AskedReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

function metricExporter(kind: OtelKind, { otlp, grpc }: ChaosPorts): PushMetricExporter {
  const timeoutMillis = TIMEOUT_MS;
  if (kind === "grpc") return new GrpcMetrics({ url: `http://127.0.0.1:${grpc}`, timeoutMillis });
  const options = { url: `http://127.0.0.1:${otlp}/v1/metrics`, timeoutMillis };
  return kind === "json" ? new JsonMetrics(options) : new ProtoMetrics(options);
}

function logExporter(kind: OtelKind, { otlp, grpc }: ChaosPorts): LogRecordExporter {
  const timeoutMillis = TIMEOUT_MS;
  if (kind === "grpc") return new GrpcLogs({ url: `http://127.0.0.1:${grpc}`, timeoutMillis });
  const options = { url: `http://127.0.0.1:${otlp}/v1/logs`, timeoutMillis };
  return kind === "json" ? new JsonLogs(options) : new ProtoLogs(options);
}

/** Exports a gauge and a line of a log twice a second. */
export class OtelSender {
  readonly #service: string;
  readonly #server: ChaosServer;
  readonly #ledger: Ledger;
  readonly #reader = new AskedReader();
  readonly #meters: MeterProvider;
  readonly #metrics: PushMetricExporter;
  readonly #logs: LoggerProvider;
  #number = 0;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(kind: OtelKind, server: ChaosServer, ledger: Ledger) {
    this.#service = `otel-${kind}`;
    this.#server = server;
    this.#ledger = ledger;
    const resource = resourceFromAttributes({ "service.name": this.#service });
    this.#metrics = metricExporter(kind, server.ports);
    this.#meters = new MeterProvider({ resource, readers: [this.#reader] });
    const gauge = this.#meters.getMeter("chaos").createObservableGauge(METRIC);
    gauge.addCallback((observed) => observed.observe(this.#number));
    const processor = new SimpleLogRecordProcessor({ exporter: this.#noting(logExporter(kind, server.ports)) });
    this.#logs = new LoggerProvider({ resource, processors: [processor] });
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    await Promise.allSettled([this.#meters.shutdown(), this.#metrics.shutdown(), this.#logs.shutdown()]);
  }

  async #run(): Promise<void> {
    const logger = this.#logs.getLogger("chaos");
    while (!this.#isStopped) {
      this.#number++;
      logger.emit({ body: `line ${this.#number} of ${this.#service}`, severityNumber: 9, timestamp: Date.now() });
      const { resourceMetrics } = await this.#reader.collect();
      await this.#export(resourceMetrics);
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    }
  }

  /** Exports once; one that fails is not repeated here, as the exporter has done that already. */
  #export(metrics: ResourceMetrics): Promise<void> {
    const isCertain = this.#server.takesNow;
    return new Promise((resolve) => {
      this.#metrics.export(metrics, ({ code }) => {
        if (code === SUCCESS && isCertain && this.#server.takesNow) this.#write(metrics);
        resolve();
      });
    });
  }

  #write({ scopeMetrics }: ResourceMetrics): void {
    const series = { service_id: this.#service, metric_name: METRIC, attributes: {} };
    for (const { dataPoints } of scopeMetrics.flatMap(({ metrics }) => metrics))
      for (const { endTime, value } of dataPoints)
        this.#ledger.sample(series, endTime[0] * 1_000 + Math.floor(endTime[1] / 1e6), value as number);
  }

  /** An exporter whose successes are written down. */
  #noting(exporter: LogRecordExporter): LogRecordExporter {
    return {
      export: (records, done) => {
        const isCertain = this.#server.takesNow;
        exporter.export(records, (result) => {
          if (result.code === SUCCESS && isCertain && this.#server.takesNow)
            for (const { body, hrTime } of records)
              this.#ledger.log(this.#service, hrTime[0] * 1_000 + Math.floor(hrTime[1] / 1e6), String(body));
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
      forceFlush: () => exporter.forceFlush(),
    };
  }
}
