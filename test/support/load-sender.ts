// A sender as real ones are: one request at a time over a connection that is kept, each repeated until it is acknowledged, in order.
import { Client } from "undici";
import type { LoadRequest } from "./load-sender-script.ts";

/** Milliseconds before a request that was refused for overload is sent again. */
const RETRY_MS = 10;

/** Sends one script. It knows exactly which requests were acknowledged: those before `next`. */
export class LoadSender {
  readonly #requests: readonly LoadRequest[];
  readonly #onAcknowledged: () => void;
  /** Index of the first request without an acknowledgement. */
  next = 0;
  /** Rejections in acknowledged requests, one reason each. */
  readonly rejected: string[] = [];
  /** Rejections in requests whose outcome nobody knows, once per attempt; emptied by who counts them. */
  readonly rejectedPerhaps: string[] = [];
  /** Accepted events of acknowledged requests, and of those whose outcome nobody knows; a 503 says that none counted. */
  accepted = 0;
  acceptedPerhaps = 0;
  repeated = 0;

  constructor(requests: readonly LoadRequest[], onAcknowledged: () => void = () => {}) {
    this.#requests = requests;
    this.#onAcknowledged = onAcknowledged;
  }

  get isDone(): boolean {
    return this.next === this.#requests.length;
  }

  /** Sends until `goesOn` says no, the script is at its end or the connection breaks; the last says false. */
  async run(origin: string, goesOn: () => boolean = () => true): Promise<boolean> {
    const client = new Client(origin, { pipelining: 1 });
    try {
      while (!this.isDone && goesOn()) {
        if (!(await this.#send(client, this.#requests[this.next] as LoadRequest))) return false;
      }
      return true;
    } finally {
      await client.destroy();
    }
  }

  /** False when the connection broke. Throws on an answer that the request must not have. */
  async #send(client: Client, { path, headers, body, status, rejected, accepted }: LoadRequest): Promise<boolean> {
    let answer: { status: number; text: string };
    try {
      const response = await client.request({ method: "POST", path, headers, body });
      answer = { status: response.statusCode, text: await response.body.text() };
    } catch {
      this.rejectedPerhaps.push(...rejected);
      this.acceptedPerhaps += accepted;
      this.repeated++;
      return false;
    }
    if (answer.status === 503) {
      this.rejectedPerhaps.push(...rejected);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      return true;
    }
    if (answer.status !== status) throw new Error(`POST ${path} says ${answer.status} instead of ${status}: ${answer.text}`);
    this.next++;
    this.rejected.push(...rejected);
    this.accepted += accepted;
    this.#onAcknowledged();
    return true;
  }
}
