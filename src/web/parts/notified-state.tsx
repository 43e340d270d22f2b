// Whether anybody was notified: three states, each a sign and words.
import { Icon, type IconName } from "../state/icons.tsx";
import type { Alert } from "../view/shapes.ts";

type Notification = Alert["notification"];

const STATES: Readonly<Record<Notification["state"], readonly [icon: IconName, text: string, tone: string]>> = {
  told: ["check", "notified", "good"],
  to_be_told: ["history", "to be notified", "accent"],
  not_told: ["mute", "nobody notified", ""],
};

/** The state alone. */
export function NotificationTag({ of: { state } }: { of: Notification }) {
  const [icon, text, tone] = STATES[state];
  return (
    <span class={`tag ${tone}`}>
      <Icon name={icon} size={12} /> {text}
    </span>
  );
}

/** The state, and by which channel or why. */
export function NotifiedState({ of }: { of: Notification }) {
  const { state, channel, reason } = of;
  const more = state === "told" ? [channel, reason].filter((one) => one !== null).join(", ") : (reason ?? channel);
  return (
    <span class="row">
      <NotificationTag of={of} />
      {more !== null && more !== "" && <span class="faint">{more}</span>}
    </span>
  );
}
