// What is known of an alert that a rule or an Alertmanager has sent: it has labels and texts, and no numbers but the value that a rule of this server has now.
import { useAnswer } from "../client/answers.ts";
import { link } from "../state/route.ts";
import { detectorText } from "../view/reason.ts";
import { type RulesAnswer, takenFrom, valueText } from "../view/rule-text.ts";
import type { AnomalyDetail } from "../view/shapes.ts";
import { Name, Panel } from "./basics.tsx";
import { Facts } from "./table.tsx";

export function TakenAlert({ anomaly: { attributes, resolved, verdict, detector } }: { anomaly: AnomalyDetail }) {
  const name = String(attributes.alertname ?? "");
  const isAsked = !resolved && name !== "";
  const answer = useAnswer<RulesAnswer>(isAsked ? "GET /prometheus/api/v1/rules" : null, { query: { "rule_name[]": name } }, 15_000);
  const of = takenFrom(attributes, answer.data?.data.groups.flatMap(({ rules }) => rules) ?? []);
  return (
    <>
      <Panel title="The alert">
        <Facts
          facts={[
            ["Detected by", of === undefined ? detectorText(detector) : <RuleName name={name} key="rule" />],
            ["Sent by", verdict?.declared_by ?? "–"],
            ["Value now", of === undefined ? "–" : valueText(of.alert.value)],
            ...textFacts(of?.alert.annotations ?? {}),
          ]}
        />
      </Panel>
      <Panel title="Its labels">
        <Facts facts={textFacts(attributes)} />
      </Panel>
    </>
  );
}

function RuleName({ name }: { name: string }) {
  return (
    <>
      the rule{" "}
      <a href={link(["rules", name])}>
        <Name text={name} />
      </a>
    </>
  );
}

function textFacts(texts: Readonly<Record<string, unknown>>) {
  return Object.entries(texts).map(([name, value]) => [name, <Name text={String(value)} key={name} />] as const);
}
