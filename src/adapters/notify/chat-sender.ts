import { secretParts } from "../../core/text/secret-mask.ts";
import type { AlertMessage } from "../../domain/notification/alert-message.ts";
import { chatBody } from "../../domain/notification/chat-body.ts";
import type { Destination } from "../../domain/notification/destinations.ts";
import type { OutboundHttp } from "../http-client/outbound-http.ts";
import { type ChannelSender, httpOutcome, NOT_CONFIGURED, SEND_TIMEOUT_MS } from "./channel-sender.ts";

/** Addresses of the pictures of messages, which chat fetches. */
export type ChatPictures = (messages: readonly AlertMessage[]) => Promise<(message: AlertMessage) => string | null>;

/** Incoming webhooks in Slack's dialect. `urlOf` gives the secret URL of a destination. */
export function chatSender(
  http: OutboundHttp,
  urlOf: (destination: Destination) => string | undefined,
  picturesOf: ChatPictures,
): ChannelSender {
  return {
    async send(destination, messages) {
      const url = urlOf(destination);
      if (url === undefined) return NOT_CONFIGURED;
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify(chatBody(messages, await picturesOf(messages)));
      return httpOutcome(await http.send({ url, method: "POST", headers, body, timeoutMs: SEND_TIMEOUT_MS }), secretParts(url));
    },
  };
}
