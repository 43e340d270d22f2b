// A fire drill: whether people would be told, tried from end to end, and how the last one went.
import { useState } from "preact/hooks";
import { useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { link } from "../state/route.ts";
import type { ChannelList, Drill, Status } from "../view/shapes.ts";
import { durationText } from "../view/time-text.ts";
import { Empty, Panel, Tag, When } from "./basics.tsx";
import { ConfirmButton } from "./confirm-button.tsx";

/** A drill ends within 160 s. */
const DRILL_MS_MAX = 170_000;
const MARKS = { passed: "good", failed: "high", not_reached: "" } as const;

type DrillResult = Omit<Drill, "deliveries"> & Partial<Pick<Drill, "deliveries">>;

export function FireDrill() {
  const status = useAnswer<Status>("GET /api/v1/status");
  const [result, setResult] = useState<DrillResult>();
  const [chosen, setChosen] = useState("");
  const channels = useAnswer<ChannelList>("GET /api/v1/routing/channels", {}).data?.channels ?? [];
  const rules = useAnswer<{ rules: Array<{ id: string; name: string }> }>("GET /api/v1/routing/rules", {}).data?.rules ?? [];
  const [kind = "", ...name] = chosen.split(" ");
  const body = chosen === "" ? {} : { [kind]: name.join(" ") };
  const run = async () => setResult(await call<Drill>("POST /api/v1/drill", { body, timeoutMs: DRILL_MS_MAX }));
  const shown = result ?? status.data?.drill ?? undefined;
  return (
    <Panel
      title="Fire drill"
      aside={
        <span class="row">
          <select aria-label="Who is notified by the drill" value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
            <option value="">by the rules</option>
            {rules.map(({ id, name: of }) => (
              <option key={id} value={`rule_id ${id}`}>
                rule {of}
              </option>
            ))}
            {channels.map(({ channel }) => (
              <option key={channel} value={`channel ${channel}`}>
                {channel}
              </option>
            ))}
          </select>
          <ConfirmButton question="It wakes people: run it?" done="The drill has ended" work={run}>
            Run a fire drill
          </ConfirmButton>
        </span>
      }
    >
      <p class="soft">
        A planted spike of the service <code>vedette.drill</code> goes the way of any sample, up to the receivers of its page: those of the
        rule that matches it, which is the catch-all unless a rule names it, or of a rule or a channel that you choose. They are told that
        it is a drill. It takes up to two minutes.
      </p>
      {shown === undefined ? <Empty title="No drill has been run" /> : <DrillView drill={shown} />}
    </Panel>
  );
}

/** Who was told, by name. */
function notifiedText(deliveries: DrillResult["deliveries"]): string {
  const channels = (deliveries ?? []).filter(({ state }) => state === "delivered").map(({ channel }) => channel);
  return channels.length === 0 ? "It came through" : `Notified: ${[...new Set(channels)].join(", ")}`;
}

function DrillView({ drill }: { drill: DrillResult }) {
  const { result, reason, started_at, duration_ms, stages, alert_id, deliveries } = drill;
  return (
    <div class={`note stack ${result === "passed" ? "good" : "bad"}`} role="status">
      <strong>
        {result === "passed" ? notifiedText(deliveries) : "It did not come through"} <When at={started_at} />, after{" "}
        {durationText(duration_ms)}
      </strong>
      <ol class="row">
        {stages.map(({ stage, state, after_ms }) => (
          <li key={stage}>
            <Tag tone={MARKS[state]}>
              {stage}: {state === "passed" ? `${after_ms} ms` : state.replace("_", " ")}
            </Tag>
          </li>
        ))}
      </ol>
      {reason !== null && <span>{reason}</span>}
      {deliveries?.map(({ channel, state, error }) => (
        <span key={channel}>
          {channel}: {state} {error}
        </span>
      ))}
      {alert_id !== null && <a href={link(["alert", alert_id])}>The drill's alert</a>}
    </div>
  );
}
