// A JSON document that is written by hand and sent; what was typed stays where the server refuses it.
import { useState } from "preact/hooks";
import { ApiError } from "../client/client.ts";
import { Send } from "./send.tsx";

export function Document({
  label,
  initial,
  action,
  submit,
}: {
  label: string;
  initial: unknown;
  action: string;
  submit: (body: unknown) => Promise<unknown>;
}) {
  const [text, setText] = useState(() => JSON.stringify(initial, null, 2));
  const [fault, setFault] = useState("");
  const send = async () => {
    setFault("");
    try {
      await submit(JSON.parse(text));
    } catch (error) {
      if (error instanceof ApiError) setFault(error.field === null ? error.message : `${error.field}: ${error.message}`);
      else setFault(`This is no JSON: ${(error as Error).message}`);
    }
  };
  return (
    <div class="stack">
      <label class="field">
        <span>{label}</span>
        <textarea rows={14} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <Send fault={fault} action={action} onSend={send} />
    </div>
  );
}
