// Body of a Slack incoming webhook: `text` is what notifications show, the attachment what is read. Up to JOINED_MESSAGES_MAX messages in one.
import { CHAT_CHARACTERS_MAX, CHAT_TITLE_CHARACTERS_MAX } from "../../core/config/notification-limits.ts";
import { type AlertMessage, cut, detailLines, headline, shownMessage, timesLine } from "./alert-message.ts";

const COLOURS = { high: "#c0392b", medium: "#d68910", low: "#2e86c1", resolved: "#1e8449" } as const;

interface TextBlock {
  readonly type: "section";
  readonly text: { readonly type: "mrkdwn"; readonly text: string };
}

interface PictureBlock {
  readonly type: "image";
  readonly image_url: string;
  readonly alt_text: string;
}

export interface ChatBody {
  readonly text: string;
  readonly attachments: ReadonlyArray<{
    readonly color: string;
    readonly fallback: string;
    readonly blocks: readonly [TextBlock, ...PictureBlock[]];
  }>;
}

/** `chartOf` gives the address of a message's picture; null where it has none. */
export function chatBody(decided: readonly AlertMessage[], chartOf: (message: AlertMessage) => string | null = () => null): ChatBody {
  const messages = decided.map(shownMessage);
  const [first] = messages;
  if (first === undefined) throw new Error("a chat message of nothing");
  const more = messages.length > 1 ? ` (and ${messages.length - 1} more)` : "";
  return { text: `${titleOf(first)}${more}`, attachments: messages.map((message) => attachmentOf(message, chartOf(message))) };
}

/** What stands for the picture where it is not shown. */
const CHART_TEXT = "the series with the band of what was ordinary";

/** A name may have 1,024 characters, each of which is five once it is escaped. */
function titleOf(message: AlertMessage): string {
  return cutEscaped(headline(message), CHAT_TITLE_CHARACTERS_MAX);
}

function attachmentOf(message: AlertMessage, chart: string | null): ChatBody["attachments"][number] {
  const title = titleOf(message);
  const { url } = message;
  const linked = url === null || url.length > CHAT_CHARACTERS_MAX / 2 ? title : `<${url}|${title}>`;
  // Each part is cut before it is put together: a cut within an escape or a link would show as garbage. What one line leaves, those behind it may have.
  const details = [...detailLines(message), timesLine(message)];
  let text = `*${linked}*`;
  for (const [index, line] of details.entries()) {
    const left = CHAT_CHARACTERS_MAX - text.length;
    text += `\n${cutEscaped(line, Math.floor(left / (details.length - index)) - 1)}`;
  }
  const color = message.kind === "resolved" ? COLOURS.resolved : COLOURS[message.severity];
  const picture = chart === null ? [] : [{ type: "image" as const, image_url: chart, alt_text: CHART_TEXT }];
  return { color, fallback: title, blocks: [{ type: "section", text: { type: "mrkdwn", text } }, ...picture] };
}

/** Slack's three signs, and nothing else. */
function slackText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The longest beginning whose escaped form has at most so many characters. */
function cutEscaped(text: string, charactersMax: number): string {
  let length = text.length;
  let escaped = slackText(text);
  while (escaped.length > charactersMax && length > 1) {
    length = Math.min(length - 1, Math.floor((length * charactersMax) / escaped.length));
    escaped = slackText(cut(text, Math.max(2, length)));
  }
  return escaped;
}
