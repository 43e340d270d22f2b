// Silences: what is kept and not told, until when, and why.
import { useState } from "preact/hooks";
import { noteChange } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { Choice } from "../parts/choice.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Form } from "../parts/form.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { SilenceDialog } from "../parts/silence-dialog.tsx";
import { Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { route } from "../state/route.ts";
import { type Matcher, parseMatchers } from "../view/matchers.ts";

interface Recurring {
  readonly days: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly timezone: string;
}

interface Silence {
  readonly silence_id: string;
  readonly state: string;
  readonly matchers: readonly Matcher[];
  readonly starts_at: string | null;
  readonly ends_at: string | null;
  readonly recurring: Recurring | null;
  readonly comment: string;
  readonly created_by: string;
}

export function Silences() {
  const { state } = route.value.query;
  const [isMaking, setMaking] = useState(false);
  const list = usePages<Silence>("GET /api/v1/silences", { query: { state, limit: 100 } }, "silences", 30_000);
  return (
    <>
      <Head title="Silences" about="What matches is detected and stored as always, and nobody is notified.">
        <Button tone="main" icon="mute" onClick={() => setMaking(true)}>
          New silence
        </Button>
      </Head>
      {isMaking && <SilenceDialog labels={{ service_id: "" }} onClose={() => setMaking(false)} />}
      <Panel>
        <details>
          <summary>Every week at the same time</summary>
          <Weekly />
        </details>
      </Panel>
      <search class="filters">
        <Choice name="state" label="State" choices={["active", "pending", "expired"]} />
      </search>
      <Shown of={list.answer}>
        {() => (
          <section class="panel flush" aria-label="Silences">
            {list.rows.length === 0 ? (
              <Empty title="No silence">Press s on an alert or an anomaly to make one from it.</Empty>
            ) : (
              <Table label="Silences" rows={list.rows} keyOf={({ silence_id }) => silence_id} columns={COLUMNS} />
            )}
          </section>
        )}
      </Shown>
      <MoreRows of={list} noun="silences" />
    </>
  );
}

const COLUMNS = [
  { head: "State", isTight: true, show: ({ state }: Silence) => <Tag tone={state === "active" ? "accent" : ""}>{state}</Tag> },
  {
    head: "Covers",
    show: ({ matchers }: Silence) => (
      <div class="row">
        {matchers.map(({ name, operator, value }) => (
          <code key={`${name}${operator}${value}`}>
            {name}
            {operator}
            <bdi>{value}</bdi>
          </code>
        ))}
      </div>
    ),
  },
  {
    head: "When",
    show: ({ starts_at, ends_at, recurring }: Silence) =>
      recurring === null ? (
        <>
          <When at={starts_at} /> to <When at={ends_at} />
        </>
      ) : (
        `${recurring.days.join(", ")} ${recurring.from} to ${recurring.to}, ${recurring.timezone}`
      ),
  },
  { head: "Why", show: ({ comment }: Silence) => <Name text={comment} /> },
  { head: "By", show: ({ created_by }: Silence) => <Name text={created_by} /> },
  {
    head: "",
    show: ({ silence_id, state }: Silence) =>
      state === "expired" ? null : (
        <ConfirmButton
          question="End it now: sure?"
          done="The silence has ended"
          work={() => call("DELETE /api/v1/silences/{id}", { path: { id: silence_id } })}
        >
          End
        </ConfirmButton>
      ),
  },
];

function Weekly() {
  const submit = async ({ matchers, days, from, to, timezone, comment }: Record<string, unknown>) => {
    const parsed = parseMatchers(String(matchers));
    if (!parsed.ok) throw new Error(parsed.message);
    await call("POST /api/v1/silences", { body: { matchers: parsed.matchers, recurring: { days, from, to, timezone }, comment } });
    notify("good", "Created");
    noteChange();
  };
  return (
    <Form
      action="Create"
      submit={submit}
      fields={[
        {
          name: "matchers",
          label: "Alerts whose labels match",
          kind: "matchers",
          isRequired: true,
          hint: 'one a line: service_id="checkout"',
        },
        { name: "days", label: "Days", kind: "list", initial: "sat,sun", isRequired: true },
        { name: "from", label: "From", initial: "22:00", isRequired: true },
        { name: "to", label: "To", initial: "06:00", isRequired: true },
        { name: "timezone", label: "Time zone", initial: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC", isRequired: true },
        { name: "comment", label: "Why", isRequired: true },
      ]}
    />
  );
}
