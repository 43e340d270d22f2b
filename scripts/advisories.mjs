// What `npm audit --json` says: advisories against packages that a server runs with, or that the registry was not to be asked.

/** Severities that fail the check. */
const FAILING = new Set(["high", "critical"]);

/**
 * Reads the report. `failures` are lines, one for each package with a grave advisory; `note` is for people: how many lesser ones there are, or why nobody was asked.
 */
export function readAdvisories(report) {
  let reported;
  try {
    reported = JSON.parse(report);
  } catch {
    return { failures: [], note: "not asked: npm audit gave no report" };
  }
  if (reported.vulnerabilities === undefined) {
    const why = reported.message ?? reported.error?.summary ?? "the registry has no advisories";
    return { failures: [], note: `not asked: ${String(why).split(" - ")[0].slice(0, 80)}` };
  }
  const found = Object.entries(reported.vulnerabilities);
  const failures = found
    .filter(([, { severity }]) => FAILING.has(severity))
    .map(([name, { severity, range, via = [] }]) => `${name} ${range}: ${severity}: ${titlesOf(via)}`);
  return { failures, note: `${found.length - failures.length} of lesser weight` };
}

function titlesOf(via) {
  return via.map((cause) => (typeof cause === "string" ? `by ${cause}` : cause.title)).join("; ");
}
