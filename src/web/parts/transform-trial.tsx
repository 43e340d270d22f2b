// What a webhook that has just been saved would send of the events that are stored.
import { plural } from "../view/number-text.ts";
import type { WebhookSaved } from "../view/shapes.ts";
import { Tag } from "./basics.tsx";

const SHOWN = 5;

export function TransformTrial({ of: { name, transform, transform_trial: trials } }: { of: WebhookSaved }) {
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
