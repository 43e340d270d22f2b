// The first candidates of a report, each with its strongest evidence.
import { link } from "../state/route.ts";
import { percentText } from "../view/number-text.ts";
import type { Report } from "../view/shapes.ts";
import { Name, Tag } from "./basics.tsx";

const SHOWN = 3;

export function CauseSummary({ report }: { report: Report }) {
  if (!report.enough) {
    return (
      <div class="stack">
        <p>
          <strong>Not enough evidence for a cause.</strong> Looked at {report.looked_at.series} series of {report.looked_at.services}{" "}
          services.
        </p>
        {report.first_symptom !== null && (
          <p class="soft">
            First symptom: <Name text={report.first_symptom.service_id} /> <Name text={report.first_symptom.metric_name} />
          </p>
        )}
      </div>
    );
  }
  return (
    <div class="stack">
      <div class="row">
        <Tag tone="accent">{report.category}</Tag>
        <Tag>{percentText(report.confidence)} confident</Tag>
        {!report.final && <Tag>still looking</Tag>}
      </div>
      <ol class="causes">
        {report.candidates.slice(0, SHOWN).map(({ service_id, metric_name, instance, evidence }) => (
          <li key={`${service_id} ${metric_name} ${instance}`}>
            <a href={link(["service", service_id], { environment: report.environment, metric: metric_name })}>
              <Name text={service_id} /> <span class="faint">·</span> <Name text={metric_name} />
            </a>
            {instance !== null && <span class="faint"> on {instance}</span>}
            <p class="soft">{evidence[0]?.text}</p>
          </li>
        ))}
      </ol>
    </div>
  );
}
