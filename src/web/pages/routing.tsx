// Which channels people are told through: rules by priority, a tester, and targets that nothing is configured for.
import { useState } from "preact/hooks";
import { noteChange } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Empty, Head, Name, Panel, Shown, Tag } from "../parts/basics.tsx";
import { Channels, ChannelTestButton, Outcome } from "../parts/channels.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { FireDrill } from "../parts/fire-drill.tsx";
import { Form } from "../parts/form.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import type { FormField } from "../view/form-body.ts";
import type { ChannelTest } from "../view/shapes.ts";

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly priority: number;
  readonly label_matchers: Readonly<Record<string, string>> | null;
  readonly service_pattern: string | null;
  readonly severity: string | null;
  readonly source: string | null;
  readonly environment: string | null;
  readonly channels: readonly string[];
  readonly unresolved_targets: readonly string[];
}

const SEVERITIES = ["low", "medium", "high"];
const RULE_FIELDS: readonly FormField[] = [
  { name: "name", label: "Name", isRequired: true },
  { name: "priority", label: "Priority, the lowest first", kind: "number", initial: "100", isRequired: true },
  { name: "channels", label: "Channels", kind: "list", isRequired: true, hint: "pager:payments, chat:payments" },
  { name: "label_matchers", label: "Labels", kind: "pairs", hint: "team=payments, one a line" },
  { name: "service_pattern", label: "Services", hint: "payment-*" },
  { name: "severity", label: "Severity", choices: SEVERITIES },
  { name: "environment", label: "Environment" },
];

export function Routing() {
  const list = usePages<Rule>("GET /api/v1/routing/rules", { query: { limit: 100 } }, "rules");
  const unresolved = (list.answer.data as unknown as { unresolved_targets?: readonly string[] } | undefined)?.unresolved_targets ?? [];
  const [tested, setTested] = useState<ChannelTest>();
  const make = async (body: Record<string, unknown>) => {
    const { warnings } = await call<{ warnings: readonly string[] }>("POST /api/v1/routing/rules", { body });
    notify(warnings.length === 0 ? "good" : "bad", warnings.length === 0 ? "Saved" : warnings.join("; "));
    noteChange();
  };
  return (
    <>
      <Head title="Routing" about="The first rule that fits says where an alert goes." />
      {unresolved.length > 0 && (
        <p class="note warn" role="status">
          Nothing is configured for {unresolved.join(", ")}: a default destination is told in their place, where there is one.
        </p>
      )}
      <div class="grid">
        <Tester />
        <Panel title="Add a rule">
          <Form action="Add" fields={RULE_FIELDS} submit={make} />
        </Panel>
      </div>
      {tested !== undefined && <Outcome of={tested} />}
      <Shown of={list.answer}>
        {() => (
          <section class="panel flush" aria-label="Rules">
            {list.rows.length === 0 ? (
              <Empty title="No rule">Every alert goes to the default destinations of the configuration.</Empty>
            ) : (
              <Table label="Rules" rows={list.rows} keyOf={({ id }) => id} columns={columnsWith(setTested)} />
            )}
          </section>
        )}
      </Shown>
      <MoreRows of={list} noun="rules" />
      <Channels />
      <FireDrill />
    </>
  );
}

const columnsWith = (onTested: (tested: ChannelTest) => void) => [
  { head: "Priority", isNumber: true, show: ({ priority }: Rule) => priority },
  { head: "Name", show: ({ name }: Rule) => <Name text={name} /> },
  { head: "Fits", show: (rule: Rule) => <code>{conditionText(rule)}</code> },
  {
    head: "Goes to",
    show: ({ channels, unresolved_targets }: Rule) => (
      <div class="row">
        {channels.map((channel) => (
          <Tag key={channel} tone={unresolved_targets.includes(channel) ? "medium" : "accent"}>
            {channel}
          </Tag>
        ))}
      </div>
    ),
  },
  {
    head: "",
    show: ({ id }: Rule) => (
      <div class="row end">
        <ChannelTestButton of={{ rule_id: id }} onTested={onTested} />
        <ConfirmButton question="Remove: sure?" done="Removed" work={() => call("DELETE /api/v1/routing/rules/{id}", { path: { id } })}>
          Remove
        </ConfirmButton>
      </div>
    ),
  },
];

function conditionText({ label_matchers, service_pattern, severity, source, environment }: Rule): string {
  const parts = [
    ...Object.entries(label_matchers ?? {}).map(([name, value]) => `${name}=${value}`),
    ...Object.entries({ service: service_pattern, severity, source, environment }).flatMap(([name, value]) =>
      value === null ? [] : [`${name}=${value}`],
    ),
  ];
  return parts.join(" ") || "everything";
}

interface Tested {
  readonly rule: Rule | null;
  readonly channels: readonly string[];
  readonly resolved: ReadonlyArray<{ readonly channel: string; readonly target: string | null; readonly fallback: boolean }>;
  readonly skipped: ReadonlyArray<{ readonly rule_id: string; readonly failed_matcher: string }>;
}

function leadsTo(target: string | null, isFallback: boolean): string {
  if (target === null) return "leads nowhere: nothing is configured for it";
  return isFallback ? `is not configured; ${target || "the default"} is told` : `→ ${target || "its default"}`;
}

function Tester() {
  const [tested, setTested] = useState<Tested>();
  const fields: readonly FormField[] = [
    { name: "service_id", label: "Service", isRequired: true },
    { name: "severity", label: "Severity", choices: SEVERITIES, initial: "high", isRequired: true },
    { name: "environment", label: "Environment" },
    { name: "labels", label: "Labels besides its own", kind: "pairs" },
  ];
  return (
    <Panel title="Where would it go?">
      <Form action="Ask" fields={fields} submit={async (body) => setTested(await call<Tested>("POST /api/v1/routing/test", { body }))} />
      {tested !== undefined && (
        <div class="note stack" role="status">
          <strong>{tested.rule === null ? "No rule fits: the default destinations are notified." : `“${tested.rule.name}” fits.`}</strong>
          {tested.resolved.map(({ channel, target, fallback }) => (
            <span key={channel}>
              <code>{channel}</code> {leadsTo(target, fallback)}
            </span>
          ))}
          {tested.skipped.length > 0 && <span class="faint">{tested.skipped.length} rules before it did not fit</span>}
        </div>
      )}
    </Panel>
  );
}
