// The telemetry of a shop of five services, and of five ways in which it breaks: each cause in an environment of its own, so that they share nothing, and one
// environment in which nothing happens. Seeded by environment and tick: every run sends the same values. A tick is ten seconds; the first call of each trace
// comes in at the storefront.
import { makeRandom } from "../demo-telemetry.ts";

/** Ways to break; "none" is a quiet day. */
export const CAUSES = ["disk", "deployment", "third-party", "surge", "code", "none"] as const;
export type Cause = (typeof CAUSES)[number];

/** Cause that a report is expected to name. */
export interface ExpectedReport {
  readonly service: string;
  readonly category: "infrastructure" | "application" | "external";
  readonly story: string;
}

export const EXPECTED: Readonly<Record<Exclude<Cause, "none">, ExpectedReport>> = {
  disk: { service: "orders", category: "infrastructure", story: "the disk of one orders node is full" },
  deployment: { service: "catalog", category: "application", story: "a bad version of catalog is deployed" },
  "third-party": { service: "api.bank.example", category: "external", story: "the bank's interface is slow" },
  surge: { service: "storefront", category: "external", story: "four times the visitors come" },
  code: { service: "inventory", category: "application", story: "a code fault in inventory that only its logs show" },
};

export const STEP_MS = 10_000;
const TRACES = 20;
const SURGE_TIMES = 4;
const SEED_STEP = 7919;
/** An empty gauge of 64 bits. */
const WORD = 2 ** 32;

/** A record of POST /api/v1/telemetry/batch. */
export interface ShopRecord {
  readonly service_id: string;
  readonly type?: string;
  readonly metric_name?: string;
  readonly value?: number;
  readonly body?: string;
  readonly timestamp: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Telemetry of one tick: records, and a request of OTLP traces in JSON. */
export interface ShopStep {
  readonly records: readonly ShopRecord[];
  readonly traces: unknown;
}

interface Moment {
  readonly environment: string;
  readonly cause: Cause;
  readonly step: number;
  readonly atMs: number;
  /** The cause has begun. */
  readonly isBroken: boolean;
  readonly random: () => number;
  readonly iso: (ms: number) => string;
}

/** The telemetry of one tick of one environment; `brokenFrom` is the tick from which on its cause acts. */
export function shopStep(
  environment: string,
  cause: Cause,
  step: number,
  atMs: number,
  brokenFrom: number,
  iso: (ms: number) => string,
): ShopStep {
  const isBroken = cause !== "none" && step >= brokenFrom;
  const moment: Moment = { environment, cause, step, atMs, isBroken, random: randomOf(environment, step), iso };
  const deploys = cause === "deployment" && step === brokenFrom - 1;
  return {
    records: [...metrics(moment), ...logs(moment), ...(deploys ? [deployment(moment)] : [])],
    traces: { resourceSpans: traces(moment) },
  };
}

/** Random numbers, begun by a text and a number. */
function randomOf(text: string, step: number): () => number {
  let seed = step * SEED_STEP;
  for (const character of text) seed = (Math.imul(seed, 31) + character.charCodeAt(0)) | 0;
  return makeRandom(seed);
}

/** About a value, by a share to both sides. */
function around(random: () => number, value: number, share: number): number {
  return value * (1 + share * (random() + random() - 1));
}

const SERVICES = ["storefront", "catalog", "inventory", "checkout", "orders"] as const;
type Service = (typeof SERVICES)[number];
const BANK = "api.bank.example";

function metrics({ environment, cause, atMs, isBroken, random, iso }: Moment): ShopRecord[] {
  const at = iso(atMs);
  const gauge = (service: Service, metric: string, value: number, more: Record<string, string> = {}): ShopRecord => ({
    service_id: service,
    metric_name: metric,
    value,
    timestamp: at,
    attributes: { environment, ...more },
  });
  const load = cause === "surge" && isBroken ? 2.2 : 1;
  const perService = SERVICES.flatMap((service) => [
    gauge(service, "cpu_percent", Math.min(100, around(random, 24 * load, 0.12)), { instance: `${service}-1` }),
    gauge(service, "memory_mib", around(random, 512, 0.03), { instance: `${service}-1` }),
  ]);
  const isFull = cause === "disk" && isBroken;
  const isSlow = cause === "third-party" && isBroken;
  return [
    ...perService,
    gauge("orders", "disk_used_percent", isFull ? 99.9 : around(random, 61, 0.01), { instance: "orders-1" }),
    gauge("orders", "disk_used_percent", around(random, 58, 0.01), { instance: "orders-2" }),
    gauge("checkout", "http.client.request.duration_ms", around(random, isSlow ? 2400 : 85, 0.15), { "server.address": BANK }),
  ];
}

function logs({ environment, cause, atMs, isBroken, random, iso }: Moment): ShopRecord[] {
  const line = (service: Service, level: string, body: string, i: number): ShopRecord => ({
    service_id: service,
    type: "log",
    body,
    timestamp: iso(atMs - STEP_MS / 2 + i),
    attributes: { environment, level },
  });
  const number = () => Math.floor(random() * 90_000 + 10_000);
  const times = cause === "surge" && isBroken ? SURGE_TIMES : 1;
  const isFaulty = cause === "code" && isBroken;
  const lines: ShopRecord[] = [];
  for (let i = 0; i < 4 * times; i++) {
    lines.push(line("storefront", "info", `page ${number()} rendered`, 5 * i));
    lines.push(line("catalog", "info", `listed ${number()} items`, 5 * i + 1));
    lines.push(line("checkout", "info", `payment ${number()} authorised`, 5 * i + 2));
    lines.push(
      isFaulty
        ? line("inventory", "error", `cannot reserve item ${number()}: unit is undefined`, 5 * i + 3)
        : line("inventory", "info", `reserved item ${number()}`, 5 * i + 3),
    );
    if (!(cause === "disk" && isBroken)) lines.push(line("orders", "info", `order ${number()} written`, 5 * i + 4));
    else lines.push(line("orders", "error", `cannot write order ${number()}: no space left on device`, 5 * i + 4));
    if (cause === "deployment" && isBroken) lines.push(line("catalog", "error", `price of item ${number()} has no currency`, 5 * i + 900));
  }
  // Errors that are always there: one in a while, of whatever service.
  if (random() < 0.5)
    lines.push(line(SERVICES[Math.floor(random() * SERVICES.length)] as Service, "error", `client went away after ${number()} ms`, 990));
  return lines;
}

function deployment({ environment, atMs, iso }: Moment): ShopRecord {
  return {
    service_id: "catalog",
    type: "event",
    body: "deployed catalog 2.8.0",
    timestamp: iso(atMs),
    attributes: { environment, event_type: "deployment", version: "2.8.0" },
  };
}

interface Span {
  readonly service: Service;
  readonly name: string;
  readonly kind: number;
  readonly ms: number;
  readonly isError: boolean;
  readonly children: readonly Span[];
}

/** storefront calls catalog, which calls inventory, and checkout, which calls orders. Each call has a span on both sides. */
function traces(moment: Moment): unknown[] {
  const { cause, isBroken } = moment;
  const count = cause === "surge" && isBroken ? TRACES * SURGE_TIMES : TRACES;
  const byService = new Map<Service, unknown[]>();
  for (let i = 0; i < count; i++) {
    const endMs = moment.atMs - Math.floor((i * (STEP_MS - 500)) / count) - 1;
    write(byService, rootSpan(moment), { traceId: hex(moment.random, 32), parent: "", endMs }, moment.random);
  }
  return [...byService].map(([service, spans]) => ({
    resource: {
      attributes: [
        { key: "service.name", value: { stringValue: service } },
        { key: "deployment.environment.name", value: { stringValue: moment.environment } },
      ],
    },
    scopeSpans: [{ spans }],
  }));
}

const SERVER = 2;
const CLIENT = 3;

function rootSpan({ cause, isBroken, random }: Moment): Span {
  const is = (one: Cause) => isBroken && cause === one;
  const loaded = is("surge") ? 1.6 : 1;
  const inventory = server("inventory", around(random, 9 * loaded, 0.3), false, []);
  const fails = is("deployment") && random() < 0.4;
  const catalog = server("catalog", around(random, (is("deployment") ? 95 : 14) * loaded, 0.3), fails, [
    call("catalog", inventory, random),
  ]);
  const full = is("disk");
  const orders = server("orders", around(random, (full ? 210 : 18) * loaded, 0.3), full && random() < 0.5, []);
  const bank = is("third-party") ? 2400 : 85;
  const checkout = server("checkout", around(random, (12 + bank) * loaded, 0.2), orders.isError, [call("checkout", orders, random)]);
  return server("storefront", around(random, 11 * loaded, 0.3), catalog.isError || checkout.isError, [
    call("storefront", catalog, random),
    call("storefront", checkout, random),
  ]);
}

/** A span on the called side: its own time and that of what it calls. */
function server(service: Service, ownMs: number, isError: boolean, children: readonly Span[]): Span {
  return { service, name: `handle ${service}`, kind: SERVER, ms: ownMs + children.reduce((sum, { ms }) => sum + ms, 0), isError, children };
}

/** A span on the calling side, a millisecond or two longer. */
function call(service: Service, callee: Span, random: () => number): Span {
  return {
    service,
    name: `call ${callee.service}`,
    kind: CLIENT,
    ms: callee.ms + around(random, 1.5, 0.4),
    isError: callee.isError,
    children: [callee],
  };
}

interface SpanParent {
  readonly traceId: string;
  readonly parent: string;
  readonly endMs: number;
}

function write(byService: Map<Service, unknown[]>, span: Span, { traceId, parent, endMs }: SpanParent, random: () => number): void {
  const spanId = hex(random, 16);
  const spans = byService.get(span.service) ?? [];
  byService.set(span.service, spans);
  spans.push({
    traceId,
    spanId,
    ...(parent === "" ? {} : { parentSpanId: parent }),
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: nanos(endMs - span.ms),
    endTimeUnixNano: nanos(endMs),
    ...(span.isError ? { status: { code: 2 } } : {}),
  });
  let childEndMs = endMs - 0.5;
  for (const child of span.children) {
    write(byService, child, { traceId, parent: spanId, endMs: childEndMs }, random);
    childEndMs -= child.ms;
  }
}

function nanos(ms: number): string {
  return `${Math.floor(ms)}${String(Math.floor((ms % 1) * 1e6)).padStart(6, "0")}`;
}

function hex(random: () => number, digits: number): string {
  let text = "";
  while (text.length < digits)
    text += Math.floor(random() * WORD)
      .toString(16)
      .padStart(8, "0");
  return text.slice(0, digits);
}
