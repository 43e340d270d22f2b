// CPU time of asking all silences and inhibition rules of a tenant about one alert, at their limits: the built books and indexes, with values that no pattern was asked about before.
// usage: node hold-loop.mjs letters|long|scripts|windows|typical alerts ▶ {meanMs, p99Ms, maxMs, evaluations, characters} of an alert

import { InhibitorIndex } from "../../dist/domain/alerting/inhibition/inhibitor-index.js";
import { PatternCache } from "../../dist/domain/alerting/pattern/pattern-cache.js";
import { InhibitionBook } from "../../dist/modules/silences/inhibition-book.js";
import { SilenceBook } from "../../dist/modules/silences/silence-book.js";

const SILENCES = 1_000;
const RULES = 100;
const MATCHERS = 32;
const PATTERN_BYTES = 256;
/** Of 300: a hundred are targets of rules. */
const SILENCE_PATTERNS = 200;
const COLD_ALERTS = 20;
const ZONES = 20;
const startMs = Date.UTC(2026, 0, 31, 12);
const hourMs = 3_600_000;
const once = { kind: "once", startsAtMs: startMs - hourMs, endsAtMs: startMs + hourMs };

/** What the alert's label is, new for each alert, and what patterns look for in it. */
const SHAPES = {
  // 1,000 characters that keep every pattern going to the end.
  letters: { value: (i) => `${"checkout-payment-".repeat(60)}${i}`.slice(-1_000), pattern: namesPattern, window: () => once },
  // An attribute of 8 KiB.
  long: { value: (i) => `${"checkout-payment-".repeat(500)}${i}`.slice(-8_192), pattern: namesPattern, window: () => once },
  // Characters beyond Latin 1, classes of all scripts: the slowest look-up.
  scripts: { value: (i) => `${"結帳付款服務".repeat(56)}${i}`.slice(-333), pattern: (i) => `(\\pL|-)+${i}z`, window: () => once },
  // Every silence comes again at nights, in 20 zones.
  windows: { value: (i) => `${"checkout-payment-".repeat(60)}${i}`.slice(-1_000), pattern: namesPattern, window: nightly },
  // A name as services have it.
  typical: { value: (i) => `checkout-${i}`, pattern: (i) => `(api|web)-${i}\\d*`, window: () => once },
};

function namesPattern(number) {
  const names = Array.from({ length: 16 }, (_, i) => `check${i * 7}out-${i}`).join("|");
  return `.*(${names}|${number}).*z|`.padEnd(PATTERN_BYTES, "checkout-payment-");
}

function nightly(i) {
  const zones = Intl.supportedValuesOf("timeZone");
  const timeZone = zones[(i % ZONES) * Math.floor(zones.length / ZONES)];
  return { kind: "recurring", window: { timeZone, weekdays: [], startMinute: i, durationMinutes: 1_439, fromMs: null, untilMs: null } };
}

function books({ pattern, window }) {
  const patterns = new PatternCache();
  const silences = new SilenceBook(patterns);
  const inhibitions = new InhibitionBook(patterns);
  const matching = Array.from({ length: MATCHERS - 1 }, (_, i) => ({
    name: `attribute-${i}`,
    operator: i % 2 === 0 ? "=" : "!=",
    value: i % 2 === 0 ? attribute(i) : `${attribute(i)}x`,
  }));
  for (let i = 0; i < SILENCES; i++) {
    // What decides comes last, and the value that it stands under is every alert's: all of it is looked at.
    const decides =
      i < SILENCE_PATTERNS
        ? { name: "service_id", operator: "=~", value: flat(pattern(i)) }
        : { name: "metric_name", operator: "!=", value: "latency" };
    const matchers = [...matching, decides];
    silences.put({
      id: i.toString(16).padStart(32, "0"),
      tenant: "t",
      matchers,
      when: window(i),
      comment: "",
      createdBy: "",
      createdMs: i,
    });
  }
  for (let i = 0; i < RULES; i++) {
    const targetMatchers = [...matching, { name: "service_id", operator: "=~", value: flat(pattern(SILENCE_PATTERNS + i)) }];
    const equal = Array.from({ length: 16 }, (_, k) => `attribute-${k}`);
    inhibitions.put({
      id: `f${i}`.padStart(32, "0"),
      tenant: "t",
      sourceMatchers: [{ name: "family", operator: "=", value: "cascade" }],
      targetMatchers,
      equal,
      comment: "",
      createdBy: "",
      createdMs: i,
    });
  }
  return { patterns, silences, inhibitions };
}

const attribute = (i) => flat(`value ${i} of an attribute, `.repeat(50).slice(0, 1_000));

/** As text is that was read from a body: not put together of parts, and another object than its equals. */
function flat(text) {
  return Buffer.from(text).toString();
}

function labelsOf(value) {
  const attributes = Object.fromEntries(Array.from({ length: MATCHERS }, (_, i) => [`attribute-${i}`, attribute(i)]));
  return {
    ...attributes,
    service_id: value,
    metric_name: "latency",
    environment: "prod",
    detector: "z_score",
    family: "z",
    severity: "low",
  };
}

/** A firing alert that every rule has as its source. */
function source() {
  const labels = { ...labelsOf("database"), family: "cascade" };
  const key = { tenant: "t", environment: "prod", serviceId: "database", family: "cascade" };
  return { state: { id: "source", key, resolvedAtMs: null }, labels, services: [] };
}

function main([shapeName, alerts]) {
  const shape = SHAPES[shapeName];
  const { patterns, silences, inhibitions } = books(shape);
  const inhibitors = new InhibitorIndex(undefined, inhibitions);
  inhibitors.put(source());
  if (!inhibitors.hasSources("t")) throw new Error("no rule has a source");
  const took = [];
  const before = { ...patterns.work };
  for (let i = -COLD_ALERTS; i < Number(alerts); i++) {
    if (i === 0) Object.assign(before, patterns.work);
    const labels = labelsOf(flat(shape.value(i + COLD_ALERTS)));
    const start = process.cpuUsage();
    const held = inhibitors.holdFor("t", labels) ?? silences.silenced("t", labels, startMs + i);
    const { user, system } = process.cpuUsage(start);
    if (held !== undefined) throw new Error(`an alert was held by ${held.id}: not everything was asked`);
    if (i >= 0) took.push((user + system) / 1000);
  }
  took.sort((a, b) => a - b);
  const evaluations = (patterns.work.evaluations - before.evaluations) / took.length;
  const characters = (patterns.work.characters - before.characters) / took.length;
  const meanMs = took.reduce((sum, one) => sum + one, 0) / took.length;
  console.log(JSON.stringify({ meanMs, p99Ms: took[Math.floor(took.length * 0.99)], maxMs: took.at(-1), evaluations, characters }));
}

main(process.argv.slice(2));
