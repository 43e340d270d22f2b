// What could not be taken: by reason, one by one, corrected in place, and sent in again with its progress.
import { useEffect, useState } from "preact/hooks";
import { noteChange, useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { LetterPatchDialog } from "../parts/letter-patch-dialog.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { route, setQuery } from "../state/route.ts";
import { bytesText, countText, percentText, plural } from "../view/number-text.ts";

interface Stats {
  readonly total_failed: number;
  readonly by_reason: Readonly<Record<string, number>>;
  readonly by_topic: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly oldest_entry: string | null;
}

interface Letter {
  readonly dlq_id: string;
  readonly reason: string;
  readonly field: string | null;
  readonly message: string;
  readonly topic: string;
  readonly received_at: string;
  readonly payload: unknown;
  readonly count: number;
}

export function DeadLetters() {
  const { reason, service_id, topic } = route.value.query;
  const filter = { reason, service_id, topic };
  const stats = useAnswer<Stats>("GET /api/v1/debug/dlq-stats", {}, 15_000);
  const list = usePages<Letter>("GET /api/v1/dlq", { query: { ...filter, limit: 50 } }, "entries");
  const [shown, setShown] = useState<Letter>();
  // What became of a replay stays in sight though no letter is left.
  const [isReplaying, setReplaying] = useState(false);
  return (
    <>
      <Head
        title="Rejected telemetry"
        about="Telemetry that could not be stored. It is kept for seven days: correct it, or replay it once its sender is fixed."
      />
      <Shown of={stats} rows={2}>
        {(counts) => <Reasons stats={counts} chosen={reason} />}
      </Shown>
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
        <SearchField label="Source: json, otlp …" name="topic" />
      </search>
      {(list.rows.length > 0 || isReplaying) && <Replay filter={filter} onRun={() => setReplaying(true)} key={JSON.stringify(filter)} />}
      <Shown of={list.answer}>
        {() => (
          <section class="panel flush" aria-label="Rejected telemetry">
            {list.rows.length === 0 ? (
              <Empty title="Nothing was refused">Everything that came was taken.</Empty>
            ) : (
              <Table label="Rejected telemetry" rows={list.rows} keyOf={({ dlq_id }) => dlq_id} columns={columnsWith(setShown)} />
            )}
          </section>
        )}
      </Shown>
      <MoreRows of={list} noun="rejected records" />
      {shown !== undefined && <LetterDialog letter={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

function Reasons({ stats, chosen }: { stats: Stats; chosen: string | undefined }) {
  const reasons = Object.entries(stats.by_reason).sort(([, a], [, b]) => b - a);
  if (reasons.length === 0) return null;
  return (
    <Panel
      title={`${countText(stats.total_failed)} wait, ${bytesText(stats.bytes)}`}
      aside={
        <span class="faint">
          the oldest of <When at={stats.oldest_entry} />
        </span>
      }
    >
      <div class="row">
        {reasons.map(([reason, count]) => (
          <button
            type="button"
            class="button"
            aria-pressed={reason === chosen}
            key={reason}
            onClick={() => setQuery({ reason: reason === chosen ? undefined : reason })}
          >
            {reason.replaceAll("_", " ")} <Tag>{countText(count)}</Tag>
          </button>
        ))}
      </div>
    </Panel>
  );
}

function columnsWith(show: (letter: Letter) => void) {
  return [
    { head: "When", isTight: true, show: ({ received_at }: Letter) => <When at={received_at} /> },
    {
      head: "Reason",
      show: ({ reason, count }: Letter) => (
        <span class="row">
          <Tag tone="medium">{reason.replaceAll("_", " ")}</Tag>
          {count > 1 && <Tag>×{count}</Tag>}
        </span>
      ),
    },
    { head: "What", show: ({ message }: Letter) => <Name text={message} /> },
    { head: "Source", show: ({ topic }: Letter) => topic },
    {
      head: "",
      show: (letter: Letter) => (
        <div class="row end whole">
          <Button onClick={() => show(letter)}>View and correct</Button>
          <ConfirmButton
            question="Delete: sure?"
            done="Deleted"
            work={() => call("DELETE /api/v1/dlq/{id}", { path: { id: letter.dlq_id } })}
          >
            Delete
          </ConfirmButton>
        </div>
      ),
    },
  ];
}

function LetterDialog({ letter, onClose }: { letter: Letter; onClose: () => void }) {
  const [text, setText] = useState(JSON.stringify(letter.payload, null, 2));
  const [outcome, setOutcome] = useState("");
  const save = async () => {
    let payload: unknown;
    try {
      payload = JSON.parse(text);
    } catch (error) {
      return setOutcome(`This is not JSON: ${(error as Error).message}`);
    }
    const answer = await call<{ replayable: boolean; problem: { message: string } | null }>("PUT /api/v1/dlq/{id}", {
      path: { id: letter.dlq_id },
      body: payload,
    });
    setOutcome(answer.replayable ? "It can be taken now: send it in." : `Still: ${answer.problem?.message}`);
    noteChange();
  };
  const send = async () => {
    await call("POST /api/v1/dlq/replay", { body: { ids: [letter.dlq_id] } });
    notify("good", "Sent in again");
    noteChange();
    onClose();
  };
  return (
    <Dialog title={letter.reason.replaceAll("_", " ")} onClose={onClose}>
      <p>{letter.message}</p>
      <label class="field">
        <span>What came{letter.field === null ? "" : `; the fault is in ${letter.field}`}</span>
        <textarea rows={12} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {outcome !== "" && (
        <p class="note" role="status">
          {outcome}
        </p>
      )}
      <div class="tools">
        <Button tone="main" onClick={save}>
          Correct
        </Button>
        <Button onClick={send}>Send in</Button>
      </div>
    </Dialog>
  );
}

interface Job {
  readonly job_id: string;
  readonly state: string;
  readonly progress: number;
  readonly replayed: number;
  readonly failed: number;
  readonly candidates: number;
}

interface DryRun {
  readonly complete: boolean;
  readonly selected: number;
  readonly accepted: number;
  readonly entries: ReadonlyArray<{ readonly problem?: { readonly message: string } | null }>;
}

function Replay({ filter, onRun }: { filter: Readonly<Record<string, string | undefined>>; onRun: () => void }) {
  const provided = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  const body = Object.keys(provided).length === 0 ? { filter: { since: "1970-01-01T00:00:00Z" } } : { filter: provided };
  const [tried, setTried] = useState("");
  const [job, setJob] = useState<Job>();
  useEffect(() => {
    if (job === undefined || job.state === "done") return;
    const timer = setTimeout(
      () => void call<Job>("GET /api/v1/dlq/replay/{id}", { path: { id: job.job_id } }).then(setJob, () => undefined),
      700,
    );
    return () => clearTimeout(timer);
  }, [job]);
  useEffect(() => {
    if (job?.state === "done") noteChange();
  }, [job?.state]);
  const [isPatching, setPatching] = useState(false);
  const dry = async () => {
    const answer = await call<DryRun>("POST /api/v1/dlq/replay", { body: { ...body, dry_run: true } });
    const { complete, selected, accepted, entries } = answer;
    const problem = entries.find((one) => one.problem)?.problem?.message;
    const of = `${complete ? "" : "the first "}${plural(selected, "rejected record")}`;
    setTried(`${accepted} of ${of} would be taken.${problem === undefined ? "" : ` Of the others: ${problem}.`}`);
  };
  const run = async () => {
    onRun();
    setJob(await call<Job>("POST /api/v1/dlq/replay", { body }));
  };
  return (
    <Panel>
      <div class="row">
        <Button onClick={() => setPatching(true)}>Correct all of these</Button>
        <Button onClick={dry}>Try a replay of these</Button>
        <Button tone="main" onClick={run} disabled={job !== undefined && job.state !== "done"}>
          Replay these
        </Button>
        <span role="status">
          {tried}
          {job !== undefined && ` ${job.state}: ${percentText(job.progress)}, ${job.replayed} taken, ${job.failed} refused again`}
        </span>
      </div>
      {isPatching && <LetterPatchDialog filter={filter} onClose={() => setPatching(false)} />}
      {job !== undefined && (
        <span class="meter">
          <i style={{ width: `${Math.round(job.progress * 100)}%` }} />
        </span>
      )}
    </Panel>
  );
}
