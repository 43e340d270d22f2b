// How to send telemetry.
import { Head } from "../parts/basics.tsx";
import { FirstSteps } from "../parts/first-steps.tsx";

export function Send() {
  return (
    <>
      <Head title="Send telemetry" about="Metrics, logs, traces, events and SLOs, in the formats that senders speak already." />
      <FirstSteps />
      <p class="soft">
        History goes in with <code>vedette import</code>; <a href="docs">the API</a> has every way in with an example.
      </p>
    </>
  );
}
