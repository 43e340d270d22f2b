import { formatRfc3339 } from "../core/base/rfc3339.ts";
import type { Notification } from "../domain/notification/notification-state.ts";

/** Whether anybody was told, as answers and events show it. */
export function notificationView({ state, channel, atMs, reason }: Notification) {
  return { state, channel, at: atMs === null ? null : formatRfc3339(atMs), reason };
}
