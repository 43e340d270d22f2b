import { oncallRequest } from "../../domain/notification/oncall-request.ts";
import type { OutboundHttp } from "../http-client/outbound-http.ts";
import { type ChannelSender, httpOutcome, NOT_CONFIGURED, SEND_TIMEOUT_MS } from "./channel-sender.ts";

/** The dialect of Opsgenie; `baseUrl` without the path of alerts, `key` is a secret. */
export function oncallSender(http: OutboundHttp, baseUrl: string, key: string): ChannelSender {
  return {
    async send({ target }, [message]) {
      if (message === undefined) return NOT_CONFIGURED;
      const { path, body } = oncallRequest(message, target);
      const headers = { "content-type": "application/json", authorization: `GenieKey ${key}` };
      const url = `${baseUrl.replace(/\/+$/, "")}${path}`;
      return httpOutcome(await http.send({ url, method: "POST", headers, body, timeoutMs: SEND_TIMEOUT_MS }), [key]);
    },
  };
}
