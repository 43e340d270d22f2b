// Pictures for messages: asked for over main, which asks the coordinator what is to be drawn, and drawn in this thread. A message waits a moment for its
// picture and goes without it where none comes.
import { pngFile } from "../../adapters/picture/png-file.ts";
import { Requests } from "../../adapters/threads/requests.ts";
import { CHART_WAIT_MS_MAX, CHARTS_PER_MESSAGE_MAX, CHARTS_WANTED_MAX } from "../../core/config/notification-limits.ts";
import type { AlertMessage, MessageKind } from "../../domain/notification/alert-message.ts";
import { COLOURS, drawSeries, type SeriesPicture } from "../../domain/picture/series-picture.ts";

/** What is to be drawn of an alert, asked for by its number. */
export interface ChartWanted {
  readonly type: "chart-wanted";
  readonly id: number;
  readonly tenant: string;
  readonly alertId: string;
}

/** The answer: what the endpoint of charts says, null where it has nothing. */
export interface ChartFound {
  readonly type: "chart-found";
  readonly id: number;
  readonly body: string | null;
}

/** Messages of what a picture shows; others are of people or follow one that had it. */
const WITH_PICTURE: ReadonlySet<MessageKind> = new Set(["opened", "raised", "reopened", "renewed", "updated", "resolved"]);

export class MessageCharts {
  readonly #requests = new Requests<ChartFound>();
  readonly #send: (wanted: ChartWanted) => void;

  constructor(send: (wanted: ChartWanted) => void) {
    this.#send = send;
  }

  take(found: ChartFound): void {
    this.#requests.settle(found);
  }

  /** PNG files of the first alerts of a message, by the alert's id; those that come in time. */
  async files(messages: readonly AlertMessage[]): Promise<ReadonlyMap<string, Buffer>> {
    const files = new Map<string, Buffer>();
    for (const [alertId, body] of await this.#bodies(messages)) {
      files.set(alertId, await pngFile(drawSeries(JSON.parse(body) as SeriesPicture), COLOURS));
    }
    return files;
  }

  /** The first alerts of a message of which there is something to draw: a chat refuses a message for good whose picture it cannot fetch. */
  async drawable(messages: readonly AlertMessage[]): Promise<ReadonlySet<string>> {
    return new Set((await this.#bodies(messages)).map(([alertId]) => alertId));
  }

  async #bodies(messages: readonly AlertMessage[]): Promise<Array<readonly [alertId: string, body: string]>> {
    const wanted = new Map(messages.filter(({ kind }) => WITH_PICTURE.has(kind)).map((message) => [message.alertId, message]));
    const first = [...wanted.values()].slice(0, CHARTS_PER_MESSAGE_MAX);
    const found = await Promise.all(first.map(async (message) => [message.alertId, await this.#ask(message)] as const));
    return found.flatMap(([alertId, body]) => (body === null ? [] : [[alertId, body] as const]));
  }

  async #ask({ tenant, alertId }: AlertMessage): Promise<string | null> {
    if (this.#requests.size >= CHARTS_WANTED_MAX) return null;
    const found = await this.#requests.ask(CHART_WAIT_MS_MAX, (id) => this.#send({ type: "chart-wanted", id, tenant, alertId }));
    return found?.body ?? null;
  }
}
