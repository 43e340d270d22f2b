// A server of node that begins to listen.
import type { ListenOptions, Server } from "node:net";
import { connection, guarded } from "../../../core/faults/guard.ts";

/** Listens; rejects with a message that names address or path, and the reason. */
export function listening(server: Server, options: ListenOptions, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => reject(new Error(`cannot listen on ${name}: ${error.message}`, { cause: error }));
    server.once("error", onError);
    const onListening = guarded(connection("a port", reject), () => {
      server.off("error", onError);
      resolve();
    });
    server.listen({ ...options, exclusive: true }, onListening);
  });
}
