// Outbound webhooks: who is sent what, in which form, and how the deliveries went.
import { useState } from "preact/hooks";
import { noteChange, useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, CopyButton, Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { Facts, Table } from "../parts/table.tsx";
import { WebhookForm } from "../parts/webhook-form.tsx";
import { notify } from "../state/notices.tsx";
import { link } from "../state/route.ts";
import { plural } from "../view/number-text.ts";
import type { Webhook, WebhookAttempt, WebhookSaved } from "../view/shapes.ts";
import { patternText } from "../view/webhook-form-body.ts";

const SHOWN = 5;

const ROWS = 100;

export function Webhooks({ rest: [name] }: { rest: readonly string[] }) {
  return name === undefined ? <WebhookList /> : <WebhookPage name={name} />;
}

function WebhookList() {
  const list = usePages<Webhook>("GET /api/v1/webhooks", { query: { limit: ROWS } }, "webhooks");
  const [saved, setSaved] = useState<WebhookSaved>();
  const make = async (body: unknown) => {
    setSaved(await call<WebhookSaved>("POST /api/v1/webhooks", { body }));
    notify("good", "Saved");
    noteChange();
  };
  return (
    <>
      <Head title="Webhooks" about="Where events go, in which form, and how their deliveries went." />
      <Panel>
        <details>
          <summary>Add a webhook</summary>
          <WebhookForm action="Save and try on stored events" submit={make} />
        </details>
        {saved !== undefined && <TransformTrial of={saved} />}
      </Panel>
      <Shown of={list.answer}>
        {() => (
          <section class="panel flush" aria-label="Webhooks">
            {list.rows.length === 0 ? (
              <Empty title="No webhook">
                An event leaves for each webhook whose pattern fits, when the cause is known or two seconds later.
              </Empty>
            ) : (
              <Table label="Webhooks" rows={list.rows} keyOf={({ name }) => name} columns={COLUMNS} />
            )}
          </section>
        )}
      </Shown>
      <MoreRows of={list} noun="webhooks" />
      <SigningKey />
    </>
  );
}

const COLUMNS = [
  {
    head: "Name",
    show: ({ name }: Webhook) => (
      <a href={link(["webhooks", name])}>
        <Name text={name} />
      </a>
    ),
  },
  { head: "Goes to", show: ({ method, url }: Webhook) => <code>{`${method} ${url}`}</code> },
  { head: "Events", show: ({ pattern }: Webhook) => <code>{patternText(pattern)}</code> },
  { head: "Form", show: ({ transform }: Webhook) => (transform === null ? "as it is" : <Tag>{transform.type}</Tag>) },
  { head: "State", show: ({ enabled }: Webhook) => <Tag tone={enabled ? "good" : "medium"}>{enabled ? "on" : "off"}</Tag> },
];

function SigningKey() {
  const answer = useAnswer<{ public_key: string; pem: string }>("GET /api/v1/webhooks/public-key");
  return (
    <Panel title="Key that signs events">
      <Shown of={answer} rows={2}>
        {({ public_key, pem }) => (
          <div class="stack">
            <p class="soft">
              Receivers verify <code>v1a</code> signatures by it; nothing secret has to be shared.
            </p>
            <code class="wrap">{public_key}</code>
            <div class="tools">
              <CopyButton text={public_key} label="Copy the key" />
              <CopyButton text={pem} label="Copy as PEM" />
            </div>
          </div>
        )}
      </Shown>
    </Panel>
  );
}

function WebhookPage({ name }: { name: string }) {
  const answer = useAnswer<Webhook>("GET /api/v1/webhooks/{name}", { path: { name } });
  return (
    <>
      <Head
        title={<Name text={name} />}
        about={
          <>
            One of the <a href={link(["webhooks"])}>webhooks</a>.
          </>
        }
      />
      <Shown of={answer}>{(webhook) => <WebhookParts webhook={webhook} />}</Shown>
      <Deliveries name={name} />
    </>
  );
}

function WebhookParts({ webhook }: { webhook: Webhook }) {
  const { name } = webhook;
  const [saved, setSaved] = useState<WebhookSaved>();
  const [tested, setTested] = useState<WebhookAttempt>();
  const change = async (body: unknown) => {
    setSaved(await call<WebhookSaved>("PUT /api/v1/webhooks/{name}", { path: { name }, body }));
    notify("good", "Saved");
    noteChange();
  };
  const test = async () => setTested(await call<WebhookAttempt>("POST /api/v1/webhooks/test", { body: { webhook_name: name } }));
  const remove = async () => {
    await call("DELETE /api/v1/webhooks/{name}", { path: { name } });
    location.hash = link(["webhooks"]);
  };
  return (
    <Panel>
      <Facts
        facts={[
          ["Goes to", <code key="url">{`${webhook.method} ${webhook.url}`}</code>],
          ["Events", <code key="events">{patternText(webhook.pattern)}</code>],
          ["Signed by a secret", webhook.secret === null ? "no, by the server's key alone" : "yes"],
          ["State", webhook.enabled ? "on" : "off"],
          ["Since", <When at={webhook.created_at} key="since" />],
        ]}
      />
      <div class="tools">
        <Button tone="main" onClick={test}>
          Send a test event
        </Button>
        <ConfirmButton question="Remove: sure?" done="Removed" work={remove}>
          Remove
        </ConfirmButton>
      </div>
      {tested !== undefined && (
        <p class={`note ${tested.state === "succeeded" ? "good" : "bad"}`} role="status">
          {tested.state === "succeeded" ? "It came" : "It did not come"}: {attemptText(tested)}
        </p>
      )}
      <details>
        <summary>Change it</summary>
        <WebhookForm action="Save and try on stored events" submit={change} webhook={webhook} key={JSON.stringify(webhook)} />
      </details>
      {saved !== undefined && <TransformTrial of={saved} />}
    </Panel>
  );
}

function attemptText({ status_code, response_time_ms, error }: WebhookAttempt): string {
  const parts = [status_code !== null && `answered ${status_code}`, response_time_ms !== null && `in ${response_time_ms} ms`, error];
  return parts.filter((part) => typeof part === "string").join(", ") || "no answer yet";
}

const TONES: Readonly<Record<WebhookAttempt["state"], string>> = { succeeded: "good", pending: "", failed: "medium", exhausted: "high" };

function Deliveries({ name }: { name: string }) {
  const list = usePages<WebhookAttempt>(
    "GET /api/v1/webhooks/{name}/deliveries",
    { path: { name }, query: { limit: ROWS } },
    "deliveries",
    10_000,
  );
  return (
    <>
      <Panel title="Deliveries">
        <Shown of={list.answer} rows={3}>
          {() =>
            list.rows.length === 0 ? (
              <Empty title="Nothing has been sent in the last seven days">A test event shows whether it would come.</Empty>
            ) : (
              <Table
                label="Deliveries"
                rows={list.rows}
                keyOf={({ delivery_id, attempt }) => `${delivery_id} ${attempt}`}
                columns={[
                  {
                    head: "When",
                    isTight: true,
                    show: ({ attempted_at, next_attempt_at }) => <When at={attempted_at ?? next_attempt_at} />,
                  },
                  { head: "State", show: ({ state }) => <Tag tone={TONES[state]}>{state}</Tag> },
                  { head: "Event", show: ({ event_type }) => event_type },
                  { head: "Attempt", isNumber: true, show: ({ attempt }) => attempt },
                  { head: "Answer", show: (attempt) => attemptText(attempt) },
                  { head: "Again", isTight: true, show: ({ next_attempt_at }) => <When at={next_attempt_at} /> },
                ]}
              />
            )
          }
        </Shown>
      </Panel>
      <MoreRows of={list} noun="attempts" />
    </>
  );
}

// What a webhook that has just been saved would send of the events that are stored.

function TransformTrial({ of: { name, transform, transform_trial: trials } }: { of: WebhookSaved }) {
  if (transform === null)
    return (
      <p class="note good" role="status">
        {name} is saved; events go out as they are.
      </p>
    );
  const failed = trials.filter(({ error }) => error !== null).length;
  return (
    <div class={`note stack ${failed === 0 ? "good" : "bad"}`} role="status">
      <strong>
        {trials.length === 0
          ? `${name} is saved. No event is stored to try the program on.`
          : `${name} is saved. Of ${plural(trials.length, "stored event", "stored events")}, ${failed === 0 ? "all go through" : `${failed} fail`}.`}
      </strong>
      <ul class="stack">
        {trials.slice(0, SHOWN).map(({ event_id, output, error, line }) => (
          <li key={event_id} class="stack">
            <span>
              <Tag tone={error === null ? "good" : "high"}>{error === null ? "sent" : "fails"}</Tag>{" "}
              {error !== null && `${line === null ? "" : `line ${line}: `}${error}`}
            </span>
            {error === null && <pre>{JSON.stringify(output, null, 1)}</pre>}
          </li>
        ))}
      </ul>
      {trials.length > SHOWN && <span class="faint">and {trials.length - SHOWN} more</span>}
    </div>
  );
}
