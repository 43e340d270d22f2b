// A form that makes something: fields, one button, and the server's words where it refuses. What was typed stays.
import { useState } from "preact/hooks";
import { faultText } from "../view/fault-text.ts";
import { type FormField, formBody } from "../view/form-body.ts";
import { Send } from "./send.tsx";

export interface FormProps {
  readonly fields: readonly FormField[];
  readonly action: string;
  readonly submit: (body: Record<string, unknown>) => Promise<unknown>;
  readonly initial?: Readonly<Record<string, string | undefined>>;
}

export function Form({ fields, action, submit, initial = {} }: FormProps) {
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(fields.map(({ name, initial: own }) => [name, initial[name] ?? own ?? ""])),
  );
  const [fault, setFault] = useState("");
  const send = async () => {
    const read = formBody(fields, values);
    if ("fault" in read) return setFault(read.fault);
    try {
      setFault("");
      await submit(read.body);
    } catch (error) {
      setFault(faultText(error));
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="fields">
        {fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            value={values[field.name] ?? ""}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))}
      </div>
      <Send fault={fault} action={action} onSend={send} />
    </form>
  );
}

function Field({ field, value, onChange }: { field: FormField; value: string; onChange: (value: string) => void }) {
  const { label, kind = "text", choices, hint, isRequired } = field;
  const isLong = kind === "pairs" || kind === "matchers";
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: one of the three below is its control
    <label class={`field ${isLong ? "long" : ""}`}>
      <span>
        {label}
        {isRequired && <span aria-hidden="true"> *</span>}
      </span>
      {choices !== undefined ? (
        <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {!isRequired && <option value="">–</option>}
          {choices.map((choice) => (
            <option value={choice} key={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : isLong ? (
        <textarea rows={2} value={value} onInput={(event) => onChange(event.currentTarget.value)} />
      ) : (
        <input
          value={value}
          inputMode={kind === "number" ? "decimal" : undefined}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
      {hint !== undefined && <small>{hint}</small>}
    </label>
  );
}
