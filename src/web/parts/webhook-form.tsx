// What a webhook says, as fields: where to, which events, in which form.
import { useState } from "preact/hooks";
import { faultText } from "../view/fault-text.ts";
import type { Webhook } from "../view/shapes.ts";
import { initialWebhook, type WebhookFields, webhookBody } from "../view/webhook-form-body.ts";
import { Send } from "./send.tsx";

const EXAMPLES: Readonly<Record<string, string>> = {
  jq: '{text: "\\(.service_id): \\(.explanation)"}',
  javascript: "function transform(event) {\n  return { text: event.service_id + ': ' + event.explanation };\n}",
  python: "def transform(event):\n    return {'text': event['service_id'] + ': ' + event['explanation']}",
};

const LINES: ReadonlyArray<readonly [name: keyof WebhookFields, label: string, hint?: string]> = [
  ["name", "Name *"],
  ["url", "Address *", "https://tickets.example.com/hooks/4f1c"],
  ["service_id_regex", "Services, a regular expression", "^pay"],
  ["metric_name_regex", "Metrics, a regular expression", "latency"],
  ["min_anomaly_score", "Score above", "0.7"],
  ["environments", "Environments", "production, staging"],
  ["root_cause_category", "Category of the cause", "deployment, resource_saturation …"],
  ["secret", "Secret that signs", "whsec_…; *** stands for the one that is set"],
  ["max_attempts", "Attempts at most", "5"],
];

export function WebhookForm({
  action,
  submit,
  webhook,
}: {
  action: string;
  submit: (body: unknown) => Promise<unknown>;
  webhook?: Webhook;
}) {
  const [fields, setFields] = useState<WebhookFields>(() => initialWebhook(webhook));
  const [fault, setFault] = useState("");
  const set = (change: Partial<WebhookFields>) => setFields({ ...fields, ...change });
  const send = async () => {
    const read = webhookBody(fields, webhook);
    if ("fault" in read) return setFault(read.fault);
    setFault("");
    try {
      await submit(read.body);
    } catch (error) {
      setFault(faultText(error));
    }
  };
  return (
    <div class="stack">
      <div class="fields">
        <Lines fields={fields} isNamed={webhook !== undefined} set={set} />
        <label class="field long">
          <span>Headers, one a line</span>
          <textarea rows={2} value={fields.headers} onInput={(event) => set({ headers: event.currentTarget.value })} />
          <small>X-Team=payments</small>
        </label>
        <label class="field">
          <span>Form of the body</span>
          <select value={fields.transform} onChange={(event) => set({ transform: event.currentTarget.value })}>
            <option value="">the event as it is</option>
            <option>jq</option>
            <option>javascript</option>
            <option>python</option>
          </select>
        </label>
        <label class="field">
          <span>State</span>
          <select value={fields.enabled} onChange={(event) => set({ enabled: event.currentTarget.value })}>
            <option value="true">on</option>
            <option value="false">off</option>
          </select>
        </label>
      </div>
      {fields.transform !== "" && <Program fields={fields} onChange={(program) => set({ program })} />}
      <Send fault={fault} action={action} onSend={send} />
    </div>
  );
}

function Program({ fields, onChange }: { fields: WebhookFields; onChange: (program: string) => void }) {
  return (
    <label class="field">
      <span>Program in {fields.transform}</span>
      <textarea
        class="code"
        rows={6}
        value={fields.program}
        spellcheck={false}
        placeholder={EXAMPLES[fields.transform]}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <small>It is tried on the newest stored events when it is saved; what it would send is shown then.</small>
    </label>
  );
}

interface LinesProps {
  readonly fields: WebhookFields;
  readonly isNamed: boolean;
  readonly set: (change: Partial<WebhookFields>) => void;
}

function Lines({ fields, isNamed, set }: LinesProps) {
  return (
    <>
      {LINES.map(([name, label, hint]) => (
        <label class="field" key={name}>
          <span>{label}</span>
          <input
            value={fields[name]}
            disabled={name === "name" && isNamed}
            onInput={(event) => set({ [name]: event.currentTarget.value })}
          />
          {hint !== undefined && <small>{hint}</small>}
        </label>
      ))}
    </>
  );
}
