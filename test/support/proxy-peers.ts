// Debian's nginx, HAProxy and Caddy as processes of a test, each with the plainest configuration that there is: on free ports, over a folder of their own, ended with
// the test.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CertificateFiles } from "./certificates.ts";
import { PATIENCE_MS } from "./patience.ts";
import { until } from "./until.ts";

/** Debian has them in a folder that is root's. */
const ENVIRONMENT = { ...process.env, PATH: `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin` };

/** Whether a program is installed here. */
function isInstalled(program: string): boolean {
  try {
    execFileSync(program, [program === "caddy" ? "version" : "-v"], { stdio: "ignore", env: ENVIRONMENT });
    return true;
  } catch {
    return false;
  }
}

/** Which of the proxies is not installed here; undefined where all are. */
export function missingProxy(programs: readonly string[] = ["nginx", "haproxy"]): string | undefined {
  return programs.find((program) => !isInstalled(program));
}

/** Proxies of one test, by what they are. */
export class ProxyPeers {
  readonly #folder = mkdtempSync(join(tmpdir(), "vedette-proxies-"));
  readonly #children: ChildProcess[] = [];

  /** An nginx with nothing but `proxy_pass` and `lines` in its location; the port it listens on. */
  async nginx(target: string, lines: readonly string[] = [], tls: readonly string[] = []): Promise<number> {
    const port = await freePort();
    const listen = `listen 127.0.0.1:${port}${tls.length > 0 ? " ssl" : ""}; ${tls.join(" ")}`;
    await this.#nginx(port, listen, [`proxy_pass ${target};`, ...lines]);
    return port;
  }

  /** An nginx that ends TLS and names the outside address to what is behind it, as docs/proxy.md has it; started once that is known. */
  async nginxWithTls(certificate: string, key: string): Promise<{ port: number; start(target: string): Promise<void> }> {
    const port = await freePort();
    const listen = `listen 127.0.0.1:${port} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${key};`;
    const headers = ["proxy_set_header Host $http_host;", "proxy_set_header X-Forwarded-For $remote_addr;", "proxy_http_version 1.1;"];
    const start = async (target: string) => {
      await this.#nginx(port, listen, [`proxy_pass ${target};`, ...headers]);
    };
    return { port, start };
  }

  /** A HAProxy with nothing but a frontend and a server; the port it listens on. */
  async haproxy(address: string, tls = ""): Promise<number> {
    const port = await freePort();
    const file = join(mkdtempSync(join(this.#folder, "haproxy-")), "haproxy.cfg");
    const defaults = ["defaults", " mode http", " timeout connect 5s", " timeout client 30s", " timeout server 30s"];
    const proxy = ["listen vedette", ` bind 127.0.0.1:${port}${tls}`, ` server one ${address}`];
    writeFileSync(file, `${[...defaults, ...proxy].join("\n")}\n`);
    await this.#launch("haproxy", ["-db", "-f", file], port);
    return port;
  }

  /** An nginx that clients reach over TLS, and that goes on over TLS and believes `authority` alone. */
  async nginxOverTls(target: string, { certificate, key }: CertificateFiles, authority: string): Promise<number> {
    const checks = [
      "proxy_http_version 1.1;",
      `proxy_ssl_trusted_certificate ${authority};`,
      "proxy_ssl_verify on;",
      "proxy_ssl_name localhost;",
    ];
    return this.nginx(target, checks, [`ssl_certificate ${certificate};`, `ssl_certificate_key ${key};`]);
  }

  /** The same of a HAProxy, which wants certificate and key in one file. */
  async haproxyOverTls(address: string, files: CertificateFiles, authority: string): Promise<number> {
    const both = join(mkdtempSync(join(this.#folder, "pem-")), "both.pem");
    writeFileSync(both, `${readFileSync(files.certificate, "utf8")}${readFileSync(files.key, "utf8")}`);
    return this.haproxy(`${address} ssl verify required ca-file ${authority}`, ` ssl crt ${both}`);
  }

  /** The same of a Caddy. */
  async caddyOverTls(target: string, { certificate, key }: CertificateFiles, authority: string): Promise<number> {
    const port = await freePort();
    const folder = mkdtempSync(join(this.#folder, "caddy-"));
    const transport = `transport http {\n tls_trusted_ca_certs ${authority}\n}`;
    const site = `https://127.0.0.1:${port} {\n tls ${certificate} ${key}\n reverse_proxy ${target} {\n ${transport}\n}\n}`;
    writeFileSync(join(folder, "Caddyfile"), `{\n admin off\n auto_https disable_redirects\n storage file_system ${folder}\n}\n${site}\n`);
    await this.#launch("caddy", ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")], port);
    return port;
  }

  async close(): Promise<void> {
    for (const child of this.#children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #nginx(port: number, listen: string, location: readonly string[]): Promise<void> {
    const folder = mkdtempSync(join(this.#folder, "nginx-"));
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
    const http = ["access_log off;", ...temporary, `server { ${listen} location / { ${location.join(" ")} } }`].join("\n");
    writeFileSync(join(folder, "nginx.conf"), `pid ${folder}/pid;\nevents {}\nhttp {\n${http}\n}\n`);
    const args = ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr", "-g", "daemon off; master_process off;"];
    await this.#launch("nginx", args, port);
  }

  async #launch(program: string, args: readonly string[], port: number): Promise<void> {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: ENVIRONMENT });
    this.#children.push(child);
    let log = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (log += text.toString()));
    const look = async () => {
      if (child.exitCode !== null) throw new Error(`${program} does not listen: ${log.slice(-2_000)}`);
      return { listens: await accepts(port), log };
    };
    await until(`${program} listens`, look, ({ listens }) => listens, { patienceMs: PATIENCE_MS });
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await once(probe.listen(0, "127.0.0.1"), "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ port, host: "127.0.0.1" });
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
}
