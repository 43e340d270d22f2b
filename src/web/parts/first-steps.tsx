// What to do where nothing has come yet: three ways to send, each a line to copy.
import { useAnswer } from "../client/answers.ts";
import { link } from "../state/route.ts";
import { plural } from "../view/number-text.ts";
import { KEY_TO_COME, sendLines } from "../view/send-lines.ts";
import type { Status } from "../view/shapes.ts";
import { CopyButton, Panel } from "./basics.tsx";

/** Address of this server, as senders take it. */
function ownAddress(): string {
  return `${location.origin}${location.pathname}`.replace(/\/$/, "");
}

export function FirstSteps() {
  const status = useAnswer<Status>("GET /api/v1/status", {}, 5_000).data;
  const series = status?.watchdog.metrics_monitored ?? 0;
  const needsKey = status?.ingest_auth === "required";
  return (
    <Panel title="Send something, or watch a demonstration">
      {status !== undefined && (
        <p class={series > 0 ? "note good" : "note"} role="status">
          {series > 0 ? (
            <>
              Something has come: {plural(series, "series", "series")}. <a href={link(["services"])}>Look at it</a>
            </>
          ) : (
            "Nothing has come so far; this line says so once it has."
          )}
        </p>
      )}
      {needsKey && (
        <p class="note">
          Senders need a key here: <a href={link(["keys"], { new: "1" })}>make one</a> of scope ingestion and put it in place of{" "}
          {KEY_TO_COME}.
        </p>
      )}
      <ol class="steps">
        {sendLines(ownAddress(), needsKey).map(({ title, about, text }) => (
          <li key={title}>
            <h3>{title}</h3>
            <p class="soft">{about}</p>
            <pre>{text}</pre>
            <CopyButton text={text} />
          </li>
        ))}
        <li>
          <h3>Demonstration</h3>
          <p class="soft">Made-up services with faults in them; the first anomaly appears here within seconds.</p>
          <pre>vedette demo</pre>
          <CopyButton text="vedette demo" />
          <p class="faint">
            From a checkout: <code>make demo</code>
          </p>
        </li>
      </ol>
    </Panel>
  );
}
