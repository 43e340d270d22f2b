// The built server over an empty folder, for `make web-bench`, and what is sent to it.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const JSON_TYPE = { "content-type": "application/json" };
const BATCH = 10_000;

/** Starts it; `close` ends it and removes its folder. */
export async function startServer(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), "vedette-web-bench-"));
  const env = { PATH: process.env.PATH, PORT: "0", OTLP_PORT: "0", ALERTS_PORT: "0", DATA_DIR: folder, LOG_FORMAT: "text", ...settings };
  const child = spawn(process.execPath, ["dist/main.js"], { env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  const origin = await new Promise((resolve, reject) => {
    child.stdout.on("data", (text) => {
      output += text;
      const [, found] = / listens on (http:\/\/\S+)/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.on("close", () => reject(new Error(`the server ended: ${output.slice(-500)}`)));
  });
  const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
  const close = () =>
    new Promise((resolve) => {
      child.removeAllListeners("close");
      child.on("close", () => {
        rmSync(folder, { recursive: true, force: true });
        resolve();
      });
      child.kill();
    });
  return { origin, pid: child.pid, token, close };
}

/** CPU seconds of a process and its threads so far. */
export function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export async function post(server, path, body, headers = JSON_TYPE) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${server.origin}${path}`, { method: "POST", headers, body: text });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  return response;
}

export async function get(server, path) {
  return (await fetch(`${server.origin}${path}`)).json();
}

const recordOf = (service_id, value, atMs) => ({
  service_id,
  metric_name: "request.duration_ms",
  value,
  timestamp: new Date(atMs).toISOString(),
});
export const usual = (at) => 100 + ((at * 7) % 5);
export const nameOf = (at) => `service-${String(at).padStart(5, "0")}`;

/** So many services from the one of number `first` on, with `samples` usual values each, a second apart, up to now. */
export async function sendUsual(server, services, samples, endMs = Date.now(), first = 0) {
  let batch = [];
  for (let at = 0; at < samples; at++) {
    for (let service = first; service < first + services; service++) {
      batch.push(recordOf(nameOf(service), usual(at + service), endMs - (samples - at) * 1000));
      if (batch.length < BATCH) continue;
      await post(server, "/api/v1/telemetry/batch", batch);
      batch = [];
    }
  }
  if (batch.length > 0) await post(server, "/api/v1/telemetry/batch", batch);
}

/** A value far from the others for each of these services. */
export async function sendSpikes(server, services, atMs = Date.now()) {
  for (let first = 0; first < services.length; first += BATCH) {
    const part = services.slice(first, first + BATCH);
    await post(server, "/api/v1/telemetry/batch", part.map((service) => recordOf(nameOf(service), 900, atMs))); // biome-ignore format: one row
  }
}

/** Waits until there are so many anomalies. */
export async function untilAnomalies(server, count) {
  for (let look = 0; look < 600; look++) {
    if ((await get(server, "/api/v1/anomalies?limit=1")).total >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`there are no ${count} anomalies after a minute`);
}

/** Seven days of a series every 15 s, with one peak and one trough that are one value each. */
export async function importWeek(server) {
  const count = 40_320;
  const endMs = Date.now() - 60_000;
  const value = (at) => (at === 20_111 ? 777 : at === 31_007 ? 3 : 100 + 20 * Math.sin(at / 900) + ((at * 7919) % 13));
  for (let first = 0; first < count; first += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - first) }, (_, at) => {
      const place = first + at;
      return `${endMs - (count - place) * 15_000},week,requests,${value(place).toFixed(2)}`;
    });
    const headers = { "content-type": "text/csv", authorization: `Bearer ${server.token}` };
    await post(server, "/api/v1/import", ["timestamp,service_id,metric_name,value", ...rows].join("\n"), headers);
  }
}
