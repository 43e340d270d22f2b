// Requests to Prometheus' HTTP API: calls go to the query workers with the parameters of query and form, what says nothing of series is answered here.
import { isUtf8 } from "node:buffer";
import type { HttpHeaders } from "../../adapters/http/http-server.ts";
import type { Endpoint } from "../../api/endpoint.ts";
import { PROMQL_FORM_BYTES_MAX } from "../../core/config/promql-limits.ts";
import type { Principal } from "../../core/protocol/query.ts";
import type { PromqlCallName } from "../../core/protocol/query-worker.ts";
import { JSON_HEADERS } from "./answer-headers.ts";
import { hasNoBody, mediaTypeOf, refuseBodyHeaders } from "./body-headers.ts";
import type { FrontRequest } from "./front-request.ts";

/** The query workers, as the front calls them. */
export interface PrometheusFront {
  /** Gives back what ends the call, or undefined where too many are there. */
  call(
    call: { readonly name: PromqlCallName; readonly tenant: string; readonly parameters: string; readonly label: string | null },
    onAnswer: (status: number, body: string | Uint8Array) => void,
  ): (() => void) | undefined;
}

export interface PrometheusOptions {
  readonly version: string;
  readonly startedMs: number;
}

export interface PrometheusDependencies {
  readonly promql: PrometheusFront;
  readonly notReady: () => string | null;
}

/** The version of Prometheus whose API is answered: Grafana asks for label values only of one that has them. */
const PROMETHEUS_VERSION = "3.14.0";
const FORM = ["application/x-www-form-urlencoded"] as const;
const TEXT_HEADERS: HttpHeaders = [["Content-Type", "text/plain; charset=utf-8"]];

/** Calls of the workers by the endpoint's name, without Form. */
const CALLS: ReadonlyMap<string, PromqlCallName> = new Map([
  ["promqlQuery", "query"],
  ["promqlQueryRange", "query_range"],
  ["promqlLabels", "labels"],
  ["promqlLabelValues", "label_values"],
  ["promqlSeries", "series"],
  ["promqlMetadata", "metadata"],
  ["promqlExemplars", "query_exemplars"],
]);

/** Serves requests to Prometheus' API that are authorized. */
export class PrometheusRequests {
  readonly #options: PrometheusOptions;
  readonly #dependencies: PrometheusDependencies;

  constructor(options: PrometheusOptions, dependencies: PrometheusDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Answers a request of somebody who may ask. */
  take(request: FrontRequest, endpoint: Endpoint, { tenant }: Principal, path: Readonly<Record<string, string>>): void {
    if (endpoint.name === "promqlHealthy") request.respond(200, TEXT_HEADERS, "Vedette is Healthy.\n");
    else if (endpoint.name === "promqlReady") this.#ready(request);
    else if (endpoint.handledBy === "front") this.#answer(request, endpoint.name);
    else {
      const call = { name: CALLS.get(endpoint.name.replace(/Form$/, "")) as PromqlCallName, tenant, label: path.name ?? null };
      const { query } = request.exchange.request;
      this.#withForm(request, endpoint, (form) => {
        this.#call(request, { ...call, parameters: query === "" || form === "" ? query + form : `${query}&${form}` });
      });
    }
  }

  #call(request: FrontRequest, call: Parameters<PrometheusFront["call"]>[0]): void {
    const cancel = this.#dependencies.promql.call(call, (status, body) => request.answerBytes(status, body));
    if (cancel === undefined) request.refuse({ code: "overloaded", message: "too many queries wait already; try again shortly" });
    else request.exchange.onAbort(cancel);
  }

  /** Collects the form of a request that has one. */
  #withForm(request: FrontRequest, { takes }: Endpoint, goOn: (form: string) => void): void {
    const { request: head } = request.exchange;
    if (takes === undefined || hasNoBody(head)) return goOn("");
    const refusal = refuseBodyHeaders(head, mediaTypeOf(head), FORM);
    if (refusal !== undefined) return request.refuse(refusal);
    request.collect(PROMQL_FORM_BYTES_MAX, (bytes) => {
      if (isUtf8(bytes)) goOn(bytes.toString("utf8"));
      else request.refuse({ code: "bad_request", message: "the form is not valid UTF-8" });
    });
  }

  #ready(request: FrontRequest): void {
    const waiting = this.#dependencies.notReady();
    if (waiting === null) request.respond(200, TEXT_HEADERS, "Vedette is Ready.\n");
    else request.respond(503, TEXT_HEADERS, `Vedette is not ready: ${waiting}.\n`);
  }

  #answer(request: FrontRequest, endpoint: string): void {
    request.respond(200, JSON_HEADERS, JSON.stringify({ status: "success", data: this.#data(endpoint) }));
  }

  #data(endpoint: string): unknown {
    if (endpoint === "promqlRuntimeInfo") return { startTime: new Date(this.#options.startedMs).toISOString(), reloadConfigSuccess: true };
    return {
      version: PROMETHEUS_VERSION,
      revision: `vedette-${this.#options.version}`,
      branch: "",
      buildUser: "",
      buildDate: "",
      goVersion: "",
    };
  }
}
