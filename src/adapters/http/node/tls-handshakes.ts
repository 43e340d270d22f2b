// Connections whose TLS handshake is not over: the server of node:https knows no way to close them, and waits for them when it closes.
import type { Socket } from "node:net";
import { connection, listenOnce } from "../../../core/faults/guard.ts";

/** Raw sockets by the address of their peer, which the TLS socket over one has too. Bounded by the server's connections and its time for handshakes. */
export class TlsHandshakes {
  readonly #sockets = new Map<string, Socket>();

  add(socket: Socket): void {
    const peer = peerOf(socket);
    this.#sockets.set(peer, socket);
    listenOnce(
      socket,
      "close",
      connection("a handshake of TLS", () => socket.destroy()),
      () => {
        if (this.#sockets.get(peer) === socket) this.#sockets.delete(peer);
      },
    );
  }

  /** The handshake of this TLS socket is over. */
  end(socket: Socket): void {
    this.#sockets.delete(peerOf(socket));
  }

  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
