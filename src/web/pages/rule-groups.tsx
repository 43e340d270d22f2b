// Rules of Prometheus, as they were evaluated last: read-only. What changes them is a file of RULES_DIR, or the API.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { isRead, useAnswer } from "../client/answers.ts";
import { Button, CopyButton, Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { Choice } from "../parts/choice.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Facts, Table } from "../parts/table.tsx";
import { link, route } from "../state/route.ts";
import { countText, plural } from "../view/number-text.ts";
import {
  alertIdOf,
  chosenGroups,
  momentOf,
  RULE_STATES,
  type Rule,
  type RuleAlert,
  type RuleGroup,
  type RulesAnswer,
  ruleCounts,
  secondsText,
  sourceText,
  statesOf,
  valueText,
} from "../view/rule-text.ts";
import type { Anomaly } from "../view/shapes.ts";

const EVERY_MS = 10_000;
/** Groups that are drawn at first: a thousand rules at once would hold the page. */
const GROUPS_SHOWN = 50;
const TONES: Readonly<Record<string, string>> = { firing: "high", pending: "medium", failing: "high" };
const HOW_TO_ADD = `groups:
  - name: shop
    rules:
      - alert: Down
        expr: up == 0
        for: 2m`;

/** `#/rules`, `#/rules/<name of a rule>`. */
export function Rules({ rest: [name] }: { rest: readonly string[] }) {
  return name === undefined ? <RuleList /> : <RulePage name={name} />;
}

function RuleList() {
  const answer = useAnswer<RulesAnswer>("GET /prometheus/api/v1/rules", {}, EVERY_MS);
  const all = answer.data?.data.groups ?? [];
  return (
    <>
      <Head
        title="Rules"
        about="Alerting and recording rules of Prometheus, evaluated here. They are changed in their files, or by the API."
      />
      <Figures of={isRead(answer) ? ruleCounts(all) : undefined} />
      <search class="filters">
        <SearchField label="Name, expression or group" />
        <Choice name="state" label="State" choices={RULE_STATES} />
      </search>
      <Shown of={answer}>{() => (all.length === 0 ? <NoRules /> : <Groups groups={chosenGroups(all, route.value.query)} />)}</Shown>
    </>
  );
}

/** `of` is undefined where nobody knows: dashes, never a green 0. */
function Figures({ of }: { of: ReturnType<typeof ruleCounts> | undefined }) {
  const figure = (label: string, count: number | undefined, tone: string) => (
    <div class="figure">
      <dt>{label}</dt>
      <dd class={count !== undefined && count > 0 ? tone : ""}>{countText(count)}</dd>
    </div>
  );
  return (
    <dl class="figures">
      {figure("Rules", of?.rules, "")}
      {figure("Firing", of?.firing, "bad")}
      {figure("Pending", of?.pending, "")}
      {figure("Failing", of?.failing, "bad")}
    </dl>
  );
}

function NoRules() {
  return (
    <Panel>
      <Empty title="No rule">
        <p>
          Put files of Prometheus' rules into the folder <code>RULES_DIR</code>, or send one group with{" "}
          <code>PUT /api/v1/rule-groups/shop</code>:
        </p>
      </Empty>
      <pre>{HOW_TO_ADD}</pre>
      <CopyButton text={HOW_TO_ADD} />
    </Panel>
  );
}

function Groups({ groups }: { groups: readonly RuleGroup[] }) {
  const [shown, setShown] = useState(GROUPS_SHOWN);
  if (groups.length === 0)
    return (
      <Panel>
        <Empty title="No rule is like that" />
      </Panel>
    );
  return (
    <>
      {groups.slice(0, shown).map((group) => (
        <Group group={group} key={`${group.file};${group.name}`} />
      ))}
      {groups.length > shown && (
        <p class="faint row">
          {shown} of {plural(groups.length, "group")} <Button onClick={() => setShown(shown + GROUPS_SHOWN)}>Show more</Button>
        </p>
      )}
    </>
  );
}

function Group({ group: { name, file, interval, evaluationTime, lastEvaluation, rules } }: { group: RuleGroup }) {
  return (
    <section class="panel flush" aria-label={`Rules of ${name}`}>
      <div class="panel-head">
        <h2>
          <Name text={name} />
        </h2>
        <span class="row soft">
          <Tag>{sourceText(file)}</Tag>
          <span>every {secondsText(interval)}</span>
          <Evaluated at={lastEvaluation} seconds={evaluationTime} />
        </span>
      </div>
      <ul class="list">
        {rules.map((rule) => (
          <RuleRow rule={rule} key={JSON.stringify([rule.type, rule.name, rule.labels, rule.query])} />
        ))}
      </ul>
    </section>
  );
}

/** When it was evaluated last, and how long that took. */
function Evaluated({ at, seconds }: { at: string; seconds: number }) {
  const moment = momentOf(at);
  if (moment === null) return <span>not evaluated yet</span>;
  return (
    <span>
      evaluated <When at={moment} ago /> in {secondsText(seconds)}
    </span>
  );
}

function RuleRow({ rule }: { rule: Rule }) {
  const { name, query, alerts = [], lastEvaluation, evaluationTime } = rule;
  return (
    <li class="item" data-row>
      <div>
        <RuleTags rule={rule} />
      </div>
      <div class="stack-tight">
        <a class="item-title" href={link(["rules", name])}>
          <Name text={name} />
        </a>
        <code class="wrap">{query}</code>
        <LastError rule={rule} />
      </div>
      <div class="item-side">
        <div>
          <Evaluated at={lastEvaluation} seconds={evaluationTime} />
        </div>
        {alerts.length > 0 && <div>{plural(alerts.length, "alert")}</div>}
      </div>
    </li>
  );
}

function RuleTags({ rule }: { rule: Rule }) {
  return (
    <span class="row">
      {statesOf(rule).map((state) => (
        <Tag key={state} tone={TONES[state]}>
          {state}
        </Tag>
      ))}
    </span>
  );
}

function LastError({ rule: { health, lastError } }: { rule: Rule }) {
  if (health !== "err") return null;
  return <p class="note bad wrap">It fails: {lastError}</p>;
}

/** All rules of a name; of several groups there may be several. */
function RulePage({ name }: { name: string }) {
  const answer = useAnswer<RulesAnswer>("GET /prometheus/api/v1/rules", { query: { "rule_name[]": name } }, EVERY_MS);
  const taken = useAnswer<{ anomalies: readonly Anomaly[] }>(
    "GET /api/v1/anomalies",
    { query: { detector: "external", metric_name: name, state: "open", view: "list", limit: 1000 } },
    EVERY_MS,
  );
  return (
    <>
      <Head
        title={<Name text={name} />}
        about={
          <>
            One of the <a href={link(["rules"])}>rules</a>.
          </>
        }
      />
      <Shown of={answer}>
        {({ data: { groups } }) =>
          groups.length === 0 ? (
            <Panel>
              <Empty title="No rule has this name">It was removed from its file, or by the API.</Empty>
            </Panel>
          ) : (
            groups.flatMap((group) =>
              group.rules.map((rule) => (
                <OneRule
                  key={JSON.stringify([group.file, group.name, rule.labels, rule.query])}
                  {...{ rule, group, taken: taken.data?.anomalies ?? [] }}
                />
              )),
            )
          )
        }
      </Shown>
    </>
  );
}

interface OneRuleProps {
  readonly rule: Rule;
  readonly group: RuleGroup;
  readonly taken: readonly Anomaly[];
}

function OneRule({ rule, group, taken }: OneRuleProps) {
  const { alerts = [], type } = rule;
  return (
    <>
      <section class="panel stack" aria-label={`${rule.name} in ${group.name}`}>
        <div class="row">
          <RuleTags rule={rule} />
          <Evaluated at={rule.lastEvaluation} seconds={rule.evaluationTime} />
        </div>
        <pre>{rule.query}</pre>
        <LastError rule={rule} />
        <Facts facts={ruleFacts(rule, group)} />
      </section>
      {type === "alerting" && (
        <section class="panel flush" aria-label="Alerts">
          {alerts.length === 0 ? (
            <Empty title="No alert">Its expression has no result now, or it has not been evaluated.</Empty>
          ) : (
            <Table label="Alerts" rows={alerts} keyOf={({ labels }) => JSON.stringify(labels)} columns={alertColumns(taken)} />
          )}
        </section>
      )}
    </>
  );
}

function ruleFacts(rule: Rule, { name, file, interval }: RuleGroup): ReadonlyArray<readonly [string, ComponentChildren]> {
  const { duration = 0, keepFiringFor = 0, labels, annotations = {} } = rule;
  return [
    ["Group", <Name text={name} key="group" />],
    ["Source", sourceText(file)],
    ["Interval", secondsText(interval)],
    ...(duration > 0 ? [["For", secondsText(duration)] as const] : []),
    ...(keepFiringFor > 0 ? [["Keeps firing for", secondsText(keepFiringFor)] as const] : []),
    ...[...Object.entries(labels), ...Object.entries(annotations)].map(
      ([label, value]) => [label, <Name text={value} key={label} />] as const,
    ),
  ];
}

function alertColumns(taken: readonly Anomaly[]) {
  return [
    { head: "State", isTight: true, show: ({ state }: RuleAlert) => <Tag tone={TONES[state]}>{state}</Tag> },
    { head: "Alert", show: ({ labels }: RuleAlert) => <AlertLink labels={labels} id={alertIdOf(labels, taken)} /> },
    { head: "Since", isTight: true, show: ({ activeAt }: RuleAlert) => <When at={activeAt} /> },
    { head: "Value", isNumber: true, show: ({ value }: RuleAlert) => valueText(value) },
  ];
}

/** Its labels, which lead to its page once it fires. */
function AlertLink({ labels, id }: { labels: RuleAlert["labels"]; id: string | null }) {
  const pairs = Object.entries(labels).filter(([name]) => name !== "alertname");
  const text = pairs.length === 0 ? (labels.alertname ?? "") : pairs.map(([name, value]) => `${name}="${value}"`).join(", ");
  return id === null ? (
    <Name text={text} />
  ) : (
    <a href={link(["alert", id])}>
      <Name text={text} />
    </a>
  );
}
