// The ports that a server would open: whether each is free, and else whose it is: of the server that has the data folder, or of another process.
import { createServer } from "node:net";
import { resolve } from "node:path";
import { holderOf } from "../../adapters/log/folder-lock.ts";
import type { Config } from "../../core/config/load-config.ts";
import { type FindingState, finding, type MachineFinding } from "./machine-finding.ts";
import { listenerOf, type PortListener } from "./port-listener.ts";

type Ports = Pick<Config, "HOST" | "PORT" | "OTLP_PORT" | "OTLP_GRPC_PORT" | "ALERTS_HOST" | "ALERTS_PORT" | "DATA_DIR">;

/** One finding for each port of HTTP, OTLP, gRPC and alerts. */
export async function portFindings(config: Ports): Promise<MachineFinding[]> {
  const { HOST, ALERTS_HOST } = config;
  const ports: ReadonlyArray<readonly [name: string, host: string, port: number, state: FindingState]> = [
    ["PORT", HOST, config.PORT, "problem"],
    ["OTLP_PORT", HOST, config.OTLP_PORT, "warning"],
    ["OTLP_GRPC_PORT", HOST, config.OTLP_GRPC_PORT, "warning"],
    ["ALERTS_PORT", ALERTS_HOST, config.ALERTS_PORT, "warning"],
  ];
  const holder = holderOf(resolve(config.DATA_DIR));
  const found: MachineFinding[] = [];
  for (const [name, host, port, state] of ports) {
    const error = port === 0 ? undefined : await listenError(host, port);
    if (error === undefined) found.push(finding(name, port === 0 ? "0, any or none" : `${host}:${port} is free`));
    else if (error !== "EADDRINUSE") found.push(finding(name, `${host}:${port}: ${error}`, { state, advice: `Set ${name}` }));
    else found.push(takenFinding(name, { where: `${host}:${port}`, listener: listenerOf(port), holder, state }));
  }
  return found;
}

interface Taken {
  readonly where: string;
  readonly listener: PortListener | undefined;
  /** Process that has the data folder. */
  readonly holder: number | undefined;
  readonly state: FindingState;
}

function takenFinding(name: string, { where, listener, holder, state }: Taken): MachineFinding {
  if (listener !== undefined && holder !== undefined && (listener.pid === holder || listener.parentPid === holder))
    return finding(name, `${where} is taken by process ${listener.pid}, the server that has the data folder`);
  const whose =
    listener === undefined
      ? "by a process of another user, or in another container, that cannot be seen"
      : `by process ${listener.pid} (${listener.command}), which is not the server of this data folder`;
  return finding(name, `${where} is taken ${whose}`, { state, advice: `See it with ss -ltnp, end it, or set ${name}` });
}

/** The system's code where the address cannot be listened on. */
function listenError(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => done(undefined)));
  });
}
