// Services that a failure of a service reaches.
import { useAnswer } from "../client/answers.ts";
import { link } from "../state/route.ts";
import { percentText } from "../view/number-text.ts";
import { Name, Panel, Tag } from "./basics.tsx";

interface Radius {
  readonly directly_affected: readonly string[];
  readonly transitively_affected: readonly string[];
  readonly estimated_severity: string;
  readonly confidence: number;
}

export function BlastRadius({ serviceId, environment }: { serviceId: string; environment: string | undefined }) {
  const answer = useAnswer<Radius>("GET /api/v1/ml/blast-radius", { query: { service_id: serviceId, environment } });
  const radius = answer.data;
  if (radius === undefined) return null;
  const list = (title: string, services: readonly string[]) => (
    <div class="row">
      <strong>{title}</strong>
      {services.length === 0 && <span class="faint">none known</span>}
      {services.map((id) => (
        <a href={link(["service", id], { environment })} key={id} class="chip">
          <Name text={id} />
        </a>
      ))}
    </div>
  );
  return (
    <Panel
      title="If it fails"
      aside={
        <Tag tone={radius.estimated_severity}>
          {radius.estimated_severity}, {percentText(radius.confidence)} sure
        </Tag>
      }
    >
      <div class="stack">
        {list("At once", radius.directly_affected)}
        {list("After that", radius.transitively_affected)}
      </div>
    </Panel>
  );
}
