/**
 * One file of rules in Debian's Prometheus and here, over one feed of remote-write: both have the same alerts, at most an interval apart, and write the same
 * annotations. RULES_MINUTES=10 watches for longer than a minute.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingPeer } from "../support/prometheus-peers.ts";
import { INTERVAL_SECONDS, LOOK_MS, RulePeers, type TimedAlerts } from "./rule-peers.ts";
import { TEMPLATES } from "./rule-templates.ts";

const MINUTES = Number(process.env.RULES_MINUTES ?? 1);
/** What a side shows changes at its own moments, and is seen a look later at most. */
const APART_MS = INTERVAL_SECONDS * 1_000 + LOOK_MS;

const missing = missingPeer();
if (missing !== undefined) process.stderr.write(`rules.test.ts is skipped: ${missing} is not installed (apt-get install prometheus)\n`);

/** States by labels: a line each of what one side showed. */
function statesOf({ alerts }: TimedAlerts): string[] {
  return alerts.map(({ labels, state }) => `${state} ${JSON.stringify(Object.entries(labels).sort())}`).sort();
}

/** Lines that one side showed at a look, and the other at none within an interval of it. */
function unmatched(looks: readonly TimedAlerts[], others: readonly TimedAlerts[]): string[] {
  const [firstMs, lastMs] = [
    Math.max(looks[0]?.atMs ?? 0, others[0]?.atMs ?? 0),
    Math.min(looks.at(-1)?.atMs ?? 0, others.at(-1)?.atMs ?? 0),
  ];
  return looks
    .filter(({ atMs }) => atMs >= firstMs + APART_MS && atMs <= lastMs - APART_MS)
    .flatMap((look) => {
      const near = new Set(others.filter(({ atMs }) => Math.abs(atMs - look.atMs) <= APART_MS).flatMap(statesOf));
      return statesOf(look)
        .filter((line) => !near.has(line))
        .map((line) => `${new Date(look.atMs).toISOString()} ${line}`);
    });
}

describe.skipIf(missing !== undefined)("a file of rules in Prometheus and here", () => {
  const peers = new RulePeers();
  beforeAll(() => peers.watch(MINUTES), MINUTES * 60_000 + 120_000);
  afterAll(() => peers.close());

  it("makes the same alerts of the same states, at most an interval apart", () => {
    const { theirs, ours } = peers;
    const states = new Set(theirs.flatMap(({ alerts }) => alerts.map(({ labels, state }) => `${labels.alertname} ${state}`)));
    expect([...states].sort()).toEqual(["Held firing", "Held pending", "Kept firing", "Many firing", "Now firing", "Templates firing"]);
    expect(unmatched(theirs, ours), "there without a match here").toEqual([]);
    expect(unmatched(ours, theirs), "here without a match there").toEqual([]);
    console.log(JSON.stringify({ minutes: MINUTES, looks: ours.length, alerts: states.size }));
  });

  it(`writes what Prometheus does of ${Object.keys(TEMPLATES).length} templates`, () => {
    const textsOf = (looks: readonly TimedAlerts[]) =>
      looks.at(-1)?.alerts.find(({ labels }) => labels.alertname === "Templates")?.annotations;
    expect(textsOf(peers.ours)).toEqual(textsOf(peers.theirs));
    expect(Object.keys(textsOf(peers.theirs) ?? {}).length).toBe(Object.keys(TEMPLATES).length);
  });
});
