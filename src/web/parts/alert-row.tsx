// A row of alerts: what, since when, who has it, and what one can do.
import { useState } from "preact/hooks";
import { link, now } from "../state/route.ts";
import { plural } from "../view/number-text.ts";
import { openText } from "../view/open-text.ts";
import { suppressionText } from "../view/reason.ts";
import type { Alert } from "../view/shapes.ts";
import { AlertActions } from "./alert-actions.tsx";
import { Button, Name, SeverityMark, Tag, When } from "./basics.tsx";
import { InEnvironment } from "./environment.tsx";
import { NotifiedState } from "./notified-state.tsx";
import { SilenceDialog } from "./silence-dialog.tsx";

export interface AlertRowProps {
  readonly alert: Alert;
  readonly isChosen?: boolean;
  readonly onChoose?: (isChosen: boolean) => void;
}

export function AlertRow({ alert, isChosen = false, onChoose }: AlertRowProps) {
  const { alert_id, severity, service_id, environment, state, explanation, anomalies, services, started_at, resolved_at } = alert;
  const isFiring = state === "firing";
  const open = openText({ startedAt: started_at, resolvedAt: resolved_at }, now.value);
  return (
    <li class={`item ${severity} ${isFiring ? "open" : ""}`} data-row>
      <div class="row">
        {onChoose !== undefined && (
          <input
            type="checkbox"
            aria-label={`choose the alert of ${service_id}`}
            data-key="x"
            checked={isChosen}
            onChange={(event) => onChoose(event.currentTarget.checked)}
          />
        )}
        <SeverityMark severity={severity} />
      </div>
      <div class="stack-tight">
        <a class="item-title" href={link(["alert", alert_id])}>
          {services.length > 1 ? `cascade: ${plural(services.length, "service", "services")}, first symptom at ` : ""}
          <Name text={service_id} />
          <InEnvironment of={environment} />
        </a>
        <p class="item-text">{explanation}</p>
        <StateTags alert={alert} />
      </div>
      <div class="item-side">
        <When at={started_at} />
        <div class="faint">{open}</div>
        {anomalies > 1 && <div class="faint">{plural(anomalies, "anomaly", "anomalies")}</div>}
        {isFiring && <RowActions alert={alert} />}
      </div>
    </li>
  );
}

/** Where it stands, for rows and the head of its page: whether it goes on, who was told, who has it, and what keeps it quiet. */
export function StateTags({ alert }: { alert: Alert }) {
  const { state, notification, held_back_by, held_back_until, acknowledged_by, assignee, severity, resolution, snoozed_until } = alert;
  const isFiring = state === "firing";
  const isSuppressed = held_back_by !== null && snoozed_until === null;
  // What waits to be told says itself what holds it, and until when.
  const isSaid = notification.state === "to_be_told";
  return (
    <span class="row">
      <Tag tone={isFiring ? severity : "good"}>{isFiring ? "firing" : "resolved"}</Tag>
      <NotifiedState of={notification} />
      {!isFiring && resolution !== null && <span class="soft">{resolution}</span>}
      {isSuppressed && <Tag>{suppressionText(held_back_by)}</Tag>}
      {isSuppressed && !isSaid && held_back_until !== null && <span class="faint">{held_back_until}</span>}
      {isFiring && snoozed_until !== null && (
        <Tag tone="accent">
          snoozed until <When at={snoozed_until} />
        </Tag>
      )}
      {acknowledged_by !== null && <Tag tone="accent">{acknowledged_by} has it</Tag>}
      {assignee !== null && <Tag tone="accent">for {assignee}</Tag>}
    </span>
  );
}

function RowActions({ alert }: { alert: Alert }) {
  const [isSilencing, setSilencing] = useState(false);
  return (
    <div class="row end">
      <AlertActions alerts={[alert]} isBrief />
      <Button icon="mute" label={`Silence ${alert.service_id}`} keyHint="s" onClick={() => setSilencing(true)} />
      {isSilencing && <SilenceDialog labels={shortLabels(alert)} onClose={() => setSilencing(false)} />}
    </div>
  );
}

const SILENCED_BY = ["service_id", "metric_name"] as const;

/** The labels that a silence usually goes by: of one environment, which may be none. */
export function shortLabels({ labels }: Pick<Alert, "labels">): Record<string, string> {
  const own = SILENCED_BY.flatMap((name) => (labels[name] ? [[name, labels[name]]] : []));
  return { ...Object.fromEntries(own), environment: labels.environment ?? "" };
}
