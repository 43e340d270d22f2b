// A row of the feed.
import { link } from "../state/route.ts";
import type { FeedRow } from "../view/feed.ts";
import { plural } from "../view/number-text.ts";
import { burstText, outcomeText } from "../view/reason.ts";
import type { Anomaly } from "../view/shapes.ts";
import { Name, SeverityMark, Tag, When } from "./basics.tsx";
import { InEnvironment } from "./environment.tsx";
import { NotificationTag } from "./notified-state.tsx";

/** An anomaly alone, or several under one heading. */
export function AnomalyItem({ row }: { row: FeedRow<Anomaly> }) {
  const { worst } = row;
  const href =
    row.kind === "burst"
      ? burstLink(row)
      : row.kind === "alert" && worst.alert_id !== null
        ? link(["alert", worst.alert_id])
        : link(["anomaly", worst.anomaly_id]);
  // Whether anybody was told is said by itself.
  const outcome = worst.outcome === "paged" ? null : outcomeText(worst.outcome, worst.suppressed_by);
  return (
    <li class={`item ${worst.severity} ${row.open > 0 ? "open" : ""}`} data-row>
      <SeverityMark severity={worst.severity} />
      <div class="stack-tight">
        <a class="item-title" href={href}>
          {row.kind === "burst" ? (
            <>
              {plural(row.services, "service")}: {burstText(worst)}
            </>
          ) : (
            <>
              <Name text={worst.service_id} /> <span class="faint">·</span> <Name text={worst.metric_name} />
            </>
          )}
          <InEnvironment of={worst.environment} />
        </a>
        <p class="item-text">{worst.explanation}</p>
      </div>
      <div class="item-side">
        <When at={newestStart(row)} />
        <div class="row end">
          {row.members.length > 1 && <Tag>{plural(row.members.length, "anomaly", "anomalies")}</Tag>}
          {row.open > 0 ? <Tag tone={worst.severity}>open</Tag> : <Tag>resolved</Tag>}
          {outcome !== null && <Tag>{outcome}</Tag>}
          <NotificationTag of={worst.notification} />
        </div>
      </div>
    </li>
  );
}

/** When the newest of them began, by its own values: they may have come later. */
function newestStart({ members }: FeedRow<Anomaly>): number {
  return members.reduce((newest, { started_at }) => Math.max(newest, Date.parse(started_at)), 0);
}

/** The list of all that came at once. */
function burstLink({ worst, oldestMs, newestMs }: FeedRow<Anomaly>): string {
  const { metric_name, environment } = worst;
  const from = new Date(oldestMs - 1000).toISOString();
  const to = new Date(newestMs + 1000).toISOString();
  return link(["anomalies"], { metric_name, environment, from, to, each: "1" });
}
