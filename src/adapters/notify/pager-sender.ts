import type { Destination } from "../../domain/notification/destinations.ts";
import { pagerEvent } from "../../domain/notification/pager-event.ts";
import type { OutboundHttp } from "../http-client/outbound-http.ts";
import { type ChannelSender, httpOutcome, NOT_CONFIGURED, SEND_TIMEOUT_MS } from "./channel-sender.ts";

/** Events API v2. `url` is the whole enqueue URL, `keyOf` gives the secret key of a destination. */
export function pagerSender(http: OutboundHttp, url: string, keyOf: (destination: Destination) => string | undefined): ChannelSender {
  return {
    async send(destination, [message]) {
      const key = keyOf(destination);
      if (key === undefined || message === undefined) return NOT_CONFIGURED;
      const headers = { "content-type": "application/json" };
      const body = pagerEvent(message, key);
      return httpOutcome(await http.send({ url, method: "POST", headers, body, timeoutMs: SEND_TIMEOUT_MS }), [key]);
    },
  };
}
