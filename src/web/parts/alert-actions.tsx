// What people do to alerts, one or many: take them, hand them back, end them, take their level for the usual one, put them off, say something, give them to somebody.
import { useState } from "preact/hooks";
import { noteChange } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { wallMs } from "../state/clock.ts";
import type { IconName } from "../state/icons.tsx";
import { notify } from "../state/notices.tsx";
import { plural } from "../view/number-text.ts";
import type { Alert } from "../view/shapes.ts";
import { Button } from "./basics.tsx";
import { Dialog } from "./dialog.tsx";

type ActionName = "acknowledge" | "unacknowledge" | "resolve" | "accept" | "snooze" | "comment" | "assign";

/** Members of the body besides the alerts and the action. */
type Body = Readonly<Record<string, string | null>>;

interface Results {
  readonly results: ReadonlyArray<{ readonly alert_id: string; readonly status: number; readonly error: string | null }>;
}

/** Alerts of one call. */
const ALERTS_MAX = 100;

/** Does it to all of them, and says what came of it. */
async function act(ids: readonly string[], action: ActionName, body: Body, done: string): Promise<void> {
  const errors: string[] = [];
  for (let at = 0; at < ids.length; at += ALERTS_MAX) {
    const alert_ids = ids.slice(at, at + ALERTS_MAX);
    const { results } = await call<Results>("POST /api/v1/alerts/actions", { body: { alert_ids, action, ...body } });
    errors.push(...results.flatMap(({ error }) => error ?? []));
  }
  const count = ids.length > 1 ? `${ids.length - errors.length} alerts: ${done}` : done;
  if (errors.length === 0) notify("good", count);
  else notify("bad", `${count}; ${plural(errors.length, "alert", "alerts")} not: ${[...new Set(errors)].join(", ").replaceAll("_", " ")}`);
  noteChange();
}

interface ActionText {
  readonly label: string;
  readonly key: string;
  readonly icon?: IconName;
  readonly done: string;
  /** Absent: done at one press. */
  readonly field?: { readonly name: string; readonly label: string; readonly isRequired?: boolean };
}

const ACTIONS: Readonly<Record<ActionName, ActionText>> = {
  acknowledge: { label: "Acknowledge", key: "a", icon: "check", done: "acknowledged, paged again only where it becomes worse" },
  unacknowledge: { label: "Hand back", key: "u", done: "nobody has it any more" },
  resolve: {
    label: "Resolve",
    key: "r",
    done: "resolved; its channels are notified",
    field: { name: "comment", label: "What was done (may be empty)" },
  },
  accept: {
    label: "This is the new level",
    key: "l",
    done: "accepted; its series are judged by the new level",
    field: { name: "comment", label: "Why it is so from now on (may be empty)" },
  },
  snooze: { label: "Snooze", key: "z", done: "put off", field: { name: "comment", label: "Why (may be empty)" } },
  comment: { label: "Comment", key: "c", done: "noted", field: { name: "text", label: "Comment", isRequired: true } },
  assign: {
    label: "Assign",
    key: "o",
    icon: "users",
    done: "assigned",
    field: { name: "assignee", label: "Who looks after it? Empty: nobody" },
  },
};

/** Buttons for what can be done to them; in a list a few of them. */
export function AlertActions({ alerts, isBrief = false, onDone }: { alerts: readonly ActedOn[]; isBrief?: boolean; onDone?: () => void }) {
  const [asked, setAsked] = useState<ActionName>();
  const ids = alerts.map(({ alert_id }) => alert_id);
  const firing = alerts.filter(({ state }) => state === "firing");
  const names = offered(firing, isBrief);
  const press = async (name: ActionName) => {
    if (ACTIONS[name].field !== undefined) return setAsked(name);
    await act(ids, name, {}, ACTIONS[name].done);
    onDone?.();
  };
  return (
    <>
      {names.map((name) => {
        const { label, key, icon } = ACTIONS[name];
        const isFirst = !isBrief && name === names[0];
        return (
          <Button key={name} tone={isFirst ? "main" : "plain"} keyHint={key} {...(icon && { icon })} onClick={() => press(name)}>
            {label}
          </Button>
        );
      })}
      {asked !== undefined && <Asked name={asked} ids={ids} onClose={() => setAsked(undefined)} {...(onDone && { onDone })} />}
    </>
  );
}

type ActedOn = Pick<Alert, "alert_id" | "state" | "acknowledged_by" | "family">;

/** Families whose alerts have, or may have taken in, series with a level. */
const WITH_LEVELS: ReadonlySet<string> = new Set(["metric", "saturation", "multivariate"]);

function offered(firing: readonly ActedOn[], isBrief: boolean): ActionName[] {
  if (firing.length === 0) return ["comment", "assign"];
  const isTaken = firing.every(({ acknowledged_by }) => acknowledged_by !== null);
  const first = isTaken ? "unacknowledge" : "acknowledge";
  if (isBrief) return isTaken ? ["resolve"] : [first, "resolve"];
  const areLevels = firing.every(({ family }) => WITH_LEVELS.has(family));
  return [first, "resolve", ...(areLevels ? (["accept"] as const) : []), "snooze", "comment", "assign"];
}

const HOURS = [1, 4, 8, 24, 72, 168] as const;

function Asked({ name, ids, onClose, onDone }: { name: ActionName; ids: readonly string[]; onClose: () => void; onDone?: () => void }) {
  const { label, field, done } = ACTIONS[name];
  const [text, setText] = useState("");
  const [hours, setHours] = useState<number>(1);
  const go = async () => {
    const trimmed = text.trim();
    const until: Body = name === "snooze" ? { until: hours === 0 ? null : new Date(wallMs() + hours * 3_600_000).toISOString() } : {};
    const own: Body = trimmed !== "" ? { [field?.name ?? "comment"]: trimmed } : name === "assign" ? { assignee: null } : {};
    await act(ids, name, { ...until, ...own }, done);
    onClose();
    onDone?.();
  };
  return (
    <Dialog title={ids.length > 1 ? `${label} ${ids.length} alerts` : label} onClose={onClose}>
      {name === "snooze" && (
        <label class="field">
          <span>For</span>
          <select value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            {HOURS.map((count) => (
              <option value={count} key={count}>
                {count < 24 ? `${count} h` : `${count / 24} d`}
              </option>
            ))}
            <option value={0}>not any longer: end the snooze</option>
          </select>
        </label>
      )}
      <label class="field">
        <span>{field?.label}</span>
        <textarea
          data-first
          rows={name === "assign" ? 1 : 3}
          maxLength={1024}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="tools">
        <Button tone="main" onClick={go} disabled={field?.isRequired === true && text.trim() === ""}>
          {label}
        </Button>
        <Button tone="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}
