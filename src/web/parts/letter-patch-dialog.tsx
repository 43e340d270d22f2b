// One correction for all dead letters of a filter: what it makes of them is shown first, then each is corrected, with the progress.
import { useEffect, useState } from "preact/hooks";
import { noteChange } from "../client/answers.ts";
import { call, callPages } from "../client/client.ts";
import { type LetterPatch, PATCH_KINDS, type PatchKind, patched } from "../view/letter-patch.ts";
import { plural } from "../view/number-text.ts";
import { Button } from "./basics.tsx";
import { Dialog } from "./dialog.tsx";

/** Letters that one correction takes: each is a call of its own, some 3 ms. */
const LETTERS_MAX = 1_000;
/** Calls that are on their way at once. */
const AT_ONCE = 4;
const SHOWN = 3;

const KIND_TEXTS: Readonly<Record<PatchKind, string>> = {
  number: "make a number of the text in",
  set: "set",
  rename: "rename",
  remove: "remove",
};

interface Letter {
  readonly dlq_id: string;
  readonly field: string | null;
  readonly payload: unknown;
}

interface Outcome {
  readonly done: number;
  readonly good: number;
  readonly problem: string;
}

export function LetterPatchDialog({ filter, onClose }: { filter: Readonly<Record<string, string | undefined>>; onClose: () => void }) {
  const [letters, setLetters] = useState<readonly Letter[]>();
  const [patch, setPatch] = useState<LetterPatch>({ kind: "number", field: "value", text: "" });
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => {
    void callPages<Letter>("GET /api/v1/dlq", { query: filter }, "entries", LETTERS_MAX).then(
      ({ rows }) => {
        setLetters(rows);
        const field = rows.find((one) => one.field !== null)?.field;
        if (field) setPatch((before) => ({ ...before, field }));
      },
      () => setLetters([]),
    );
  }, []);
  const changes = (letters ?? []).flatMap((letter) => {
    const after = patched(letter.payload, patch);
    return after === undefined ? [] : [{ letter, after }];
  });
  const run = async () => {
    let state: Outcome = { done: 0, good: 0, problem: "" };
    setOutcome(state);
    const queue = [...changes];
    const work = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const judged = await correct(next.letter.dlq_id, next.after);
        state = { done: state.done + 1, good: state.good + (judged === null ? 1 : 0), problem: judged ?? state.problem };
        setOutcome(state);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    noteChange();
  };
  const isRunning = outcome !== undefined && outcome.done < changes.length;
  return (
    <Dialog title="Correct all of these" onClose={onClose}>
      <PatchFields patch={patch} onChange={setPatch} />
      <Preview letters={letters} changes={changes} />
      {outcome !== undefined && <Progress outcome={outcome} total={changes.length} />}
      <div class="tools">
        <Button tone="main" onClick={run} disabled={changes.length === 0 || outcome !== undefined}>
          Correct {changes.length}
        </Button>
        <Button tone="quiet" onClick={onClose} disabled={isRunning}>
          {outcome === undefined ? "Cancel" : "Done"}
        </Button>
      </div>
    </Dialog>
  );
}

interface Change {
  readonly letter: Letter;
  readonly after: unknown;
}

/** Number of letters that would change, and what the first of them become. */
function Preview({ letters, changes }: { letters: readonly Letter[] | undefined; changes: readonly Change[] }) {
  return (
    <div class="note stack" role="status">
      {letters === undefined ? (
        "Reading them …"
      ) : (
        <>
          <strong>
            {changes.length} of {plural(letters.length, "rejected record", "rejected records")} would change
          </strong>
          {changes.slice(0, SHOWN).map(({ letter, after }) => (
            <span class="stack-tight" key={letter.dlq_id}>
              <code class="wrap faint">{JSON.stringify(letter.payload)}</code>
              <code class="wrap">{JSON.stringify(after)}</code>
            </span>
          ))}
        </>
      )}
    </div>
  );
}

function Progress({ outcome, total }: { outcome: Outcome; total: number }) {
  return (
    <>
      <span class="meter">
        <i style={{ width: `${Math.round((100 * outcome.done) / Math.max(1, total))}%` }} />
      </span>
      <p class="note" role="status">
        {outcome.done} of {total} corrected, {outcome.good} of them can be taken now.
        {outcome.problem !== "" && ` Of the others: ${outcome.problem}`}
      </p>
    </>
  );
}

function PatchFields({ patch, onChange }: { patch: LetterPatch; onChange: (patch: LetterPatch) => void }) {
  return (
    <div class="fields">
      <label class="field">
        <span>What to do</span>
        <select value={patch.kind} onChange={(event) => onChange({ ...patch, kind: event.currentTarget.value as PatchKind })}>
          {PATCH_KINDS.map((kind) => (
            <option value={kind} key={kind}>
              {KIND_TEXTS[kind]}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Field</span>
        <input value={patch.field} onInput={(event) => onChange({ ...patch, field: event.currentTarget.value })} />
      </label>
      {(patch.kind === "set" || patch.kind === "rename") && (
        <label class="field">
          <span>{patch.kind === "set" ? "To: JSON, or a text" : "Its new name"}</span>
          <input value={patch.text} onInput={(event) => onChange({ ...patch, text: event.currentTarget.value })} />
        </label>
      )}
    </div>
  );
}

/** Error of the patch, or null. */
async function correct(id: string, body: unknown): Promise<string | null> {
  try {
    const answer = await call<{ replayable: boolean; problem: { message: string } | null }>("PUT /api/v1/dlq/{id}", { path: { id }, body });
    return answer.replayable ? null : (answer.problem?.message ?? "it cannot be taken");
  } catch (error) {
    return (error as Error).message;
  }
}
