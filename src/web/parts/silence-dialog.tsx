// A silence from what is at hand: its matchers can be changed, and what they would keep quiet now is shown before it is made.
import { useEffect, useState } from "preact/hooks";
import { noteChange, useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { wallMs } from "../state/clock.ts";
import { notify } from "../state/notices.tsx";
import { link } from "../state/route.ts";
import { matchersText, parseMatchers, silenced } from "../view/matchers.ts";
import type { Alert } from "../view/shapes.ts";
import { Button, Name, SeverityMark } from "./basics.tsx";
import { Dialog } from "./dialog.tsx";

const HOURS = [1, 2, 4, 8, 24, 72] as const;

export function SilenceDialog({ labels, onClose }: { labels: Readonly<Record<string, string>>; onClose: () => void }) {
  const [text, setText] = useState(matchersText(labels));
  const [hours, setHours] = useState(2);
  const [comment, setComment] = useState("");
  const parsed = parseMatchers(text);
  const make = async () => {
    if (!parsed.ok) return;
    const ends_at = new Date(wallMs() + hours * 3_600_000).toISOString();
    await call("POST /api/v1/silences", { body: { matchers: parsed.matchers, ends_at, comment } });
    notify("good", "Created; what it covers is stored, and nobody is notified");
    noteChange();
    onClose();
  };
  return (
    <Dialog title="Silence" onClose={onClose}>
      <label class="field">
        <span>Alerts whose labels match all of these, one a line: = != =~ !~</span>
        <textarea rows={4} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {!parsed.ok && <p class="note bad">{parsed.message}</p>}
      <div class="fields">
        <label class="field">
          <span>For</span>
          <select value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            {HOURS.map((count) => (
              <option value={count} key={count}>
                {count < 24 ? `${count} h` : `${count / 24} d`}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Why</span>
          <input
            data-first
            value={comment}
            onInput={(event) => setComment(event.currentTarget.value)}
            placeholder="deployment, load test …"
          />
        </label>
      </div>
      {parsed.ok && <Preview matchers={parsed.matchers} />}
      <div class="tools">
        <Button tone="main" onClick={make} disabled={!parsed.ok || comment.trim() === ""}>
          Silence for {hours < 24 ? `${hours} h` : `${hours / 24} d`}
        </Button>
        <Button tone="quiet" onClick={onClose}>
          Cancel
        </Button>
        <a href={link(["silences"])}>All silences</a>
      </div>
    </Dialog>
  );
}

/** Firing alerts that it would cover; asked once. */
function Preview({ matchers }: { matchers: Extract<ReturnType<typeof parseMatchers>, { ok: true }>["matchers"] }) {
  const answer = useAnswer<{ alerts: Alert[]; total: number }>("GET /api/v1/alerts", { query: { state: "firing", limit: 1000 } });
  const [covered, setCovered] = useState<readonly Alert[]>([]);
  useEffect(
    () => setCovered((answer.data?.alerts ?? []).filter(({ labels }) => silenced(labels, matchers))),
    [answer.data, matchersKey(matchers)],
  );
  if (answer.data === undefined) return null;
  return (
    <div class="note" role="status">
      {covered.length === 0
        ? "No alert that fires now matches."
        : `${covered.length} of ${answer.data.total} firing alerts would be quiet:`}
      <ul>
        {covered.slice(0, 5).map(({ alert_id, severity, service_id, explanation }) => (
          <li key={alert_id} class="clip">
            <SeverityMark severity={severity} isBare /> <Name text={service_id} /> <span class="soft">{explanation}</span>
          </li>
        ))}
      </ul>
      {covered.length > 5 && <span class="faint">and {covered.length - 5} more</span>}
    </div>
  );
}

function matchersKey(matchers: unknown): string {
  return JSON.stringify(matchers);
}
