// Declares the limit of a metric, beside whatever shows it.
import { noteChange } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { notify } from "../state/notices.tsx";
import { Form } from "./form.tsx";

export function LimitForm({ initial }: { initial: Readonly<Record<string, string | undefined>> }) {
  const declare = async (body: Record<string, unknown>) => {
    await call("PUT /api/v1/saturation/limits", { body });
    notify("good", "Saved; it counts from the next check on");
    noteChange();
  };
  return (
    <Form
      action="Save"
      submit={declare}
      initial={initial}
      fields={[
        { name: "service_id", label: "Service", hint: "in all its environments; empty: every service" },
        { name: "metric", label: "Metric", isRequired: true },
        { name: "limit_value", label: "Full at", kind: "number", isRequired: true },
        { name: "unit", label: "Unit" },
      ]}
    />
  );
}
