// A receiver of webhooks that answers as a test says, and remembers what came.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedEvent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export class WebhookReceiver {
  readonly received: ReceivedEvent[] = [];
  /** What it answers next. */
  answer: (event: ReceivedEvent, count: number) => ReceiverAnswer = () => ({ status: 204 });
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<WebhookReceiver> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const event = {
          method: request.method ?? "",
          path: request.url ?? "",
          headers: request.headers as Record<string, string>,
          text: Buffer.concat(parts).toString("utf8"),
        };
        receiver.received.push(event);
        const { status, headers } = receiver.answer(event, receiver.received.length);
        response.writeHead(status, { ...headers });
        response.end();
      });
    });
    const receiver = new WebhookReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Bodies of what came, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of all shapes
  get events(): any[] {
    return this.received.map(({ text }) => JSON.parse(text));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
