// Receivers of chat, pager and on-call messages with the rules of the real ones as far as they are written down: a body that breaks them is refused with 400 and
// kept as a fault. Judged by what the real Alertmanager sends (test/golden/alertmanager-notifiers.jsonl), not by our own sender.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

const TEXT = z.string().max(40_000);
/** Slack's incoming webhooks; unknown members are ignored there, as `mrkdwn_in` is here. */
const CHAT = z
  .looseObject({
    text: TEXT.optional(),
    attachments: z
      .array(
        z.looseObject({
          fallback: TEXT.optional(),
          blocks: z
            .array(z.looseObject({ type: z.string() }))
            .max(50)
            .optional(),
        }),
      )
      .max(100)
      .optional(),
  })
  .refine(({ text, attachments = [] }) => (text ?? "") !== "" || attachments.length > 0, "no_text");
/** Events API v2. */
const EVENT_HEAD = { routing_key: z.string().length(32), dedup_key: z.string().min(1).max(255) };
const EVENT = z.union([
  z.looseObject({ ...EVENT_HEAD, event_action: z.enum(["acknowledge", "resolve"]) }),
  z.looseObject({
    ...EVENT_HEAD,
    event_action: z.literal("trigger"),
    payload: z.looseObject({
      summary: z.string().min(1).max(1_024),
      source: z.string().min(1),
      severity: z.enum(["critical", "error", "warning", "info"]),
      timestamp: z.iso.datetime({ offset: true }).optional(),
    }),
  }),
]);
const PRIORITY = z.enum(["P1", "P2", "P3", "P4", "P5"]);
/** Opsgenie's alert API. */
const ONCALL = z.looseObject({
  message: z.string().min(1).max(130),
  alias: z.string().max(512).optional(),
  description: z.string().max(15_000).optional(),
  responders: z
    .array(z.looseObject({ type: z.string() }))
    .max(50)
    .optional(),
  tags: z.array(z.string().max(50)).max(20).optional(),
  details: z.record(z.string(), z.string()).optional(),
  entity: z.string().max(512).optional(),
  source: z.string().max(100).optional(),
  priority: PRIORITY.optional(),
});
const ONCALL_CHANGE = z.looseObject({
  source: z.string().max(100).optional(),
  user: z.string().max(100).optional(),
  note: z.string().max(25_000).optional(),
});

export interface Received {
  readonly atMs: number;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of all shapes
  readonly body: any;
}

/** Status to answer with in place of the receiver's own; null hangs up without an answer once the body is read. */
export type Behaviour = (path: string) => number | null | undefined;

const JUDGES: ReadonlyArray<readonly [path: RegExp, schema: z.ZodType, status: number]> = [
  [/^\/slack\//, CHAT, 200],
  [/^\/pd\/v2\/enqueue$/, EVENT, 202],
  [/^\/opsgenie\/v2\/alerts$/, ONCALL, 202],
  [/^\/opsgenie\/v2\/alerts\/[^/]+\/(close|acknowledge|notes)\?identifierType=alias$/, ONCALL_CHANGE, 202],
];

export class FakeReceivers {
  readonly received: Received[] = [];
  /** Requests that a real receiver would have refused. */
  readonly faults: string[] = [];
  behaviour: Behaviour = () => undefined;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void bodyOf(request).then((text) => {
        const status = this.judge(request.url ?? "", request.headers.authorization, text);
        const wanted = this.behaviour(request.url ?? "");
        if (wanted === null) return request.socket.destroy();
        if (wanted === undefined || wanted < 300) this.received.push({ atMs: Date.now(), path: request.url ?? "", body: JSON.parse(text) });
        response.writeHead(wanted ?? status, { "content-type": "text/plain" }).end(status < 300 ? "ok" : "refused");
      });
    });
  }

  static async open(): Promise<FakeReceivers> {
    const receivers = new FakeReceivers();
    await new Promise<void>((resolve) => receivers.#server.listen(0, "127.0.0.1", resolve));
    return receivers;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What a receiver says of a request. */
  judge(path: string, authorization: string | undefined, text: string): number {
    const judge = JUDGES.find(([pattern]) => pattern.test(path));
    if (judge === undefined) return this.#fault(404, `${path} is nobody's`);
    if (path.startsWith("/opsgenie/") && !/^GenieKey \S+$/.test(authorization ?? "")) return this.#fault(401, `${path}: no key`);
    const parsed = judge[1].safeParse(JSON.parse(text));
    return parsed.success ? judge[2] : this.#fault(400, `${path}: ${z.prettifyError(parsed.error)} ${text.slice(0, 500)}`);
  }

  /** Bodies to paths that begin so. */
  at(path: string): Received[] {
    return this.received.filter((one) => one.path.startsWith(path));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #fault(status: number, what: string): number {
    this.faults.push(what);
    return status;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
