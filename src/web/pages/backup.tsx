// Copies of the data, and the configuration as one document.
import { useState } from "preact/hooks";
import { noteChange, useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, CopyButton, Empty, Head, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { bytesText, percentText } from "../view/number-text.ts";

interface BackupsAnswer {
  readonly running: { readonly name: string; readonly phase: string; readonly bytes: number; readonly bytes_total: number } | null;
  readonly last: { readonly name: string; readonly ended_at: string; readonly seconds: number; readonly error: string | null } | null;
  readonly backups: ReadonlyArray<{
    readonly name: string;
    readonly cut_at: string;
    readonly bytes: number;
    readonly linked_bytes: number;
    readonly version: string;
  }>;
}

const EVERY_MS = 3_000;

export function Backup() {
  const answer = useAnswer<BackupsAnswer>("GET /api/v1/backup", {}, EVERY_MS);
  const begin = async (whole: boolean) => {
    await call("POST /api/v1/backup", { body: { whole } });
    noteChange();
  };
  return (
    <>
      <Head
        title="Backup and configuration"
        about="Copies of all data, made while the server runs; and what has been configured, as one document."
      >
        <Button tone="main" icon="copy" onClick={() => begin(false)}>
          Back up now
        </Button>
      </Head>
      <Panel title="Backups">
        <Shown of={answer} rows={3}>
          {({ running, last, backups }) => (
            <div class="stack">
              {running !== null && (
                <p class="note" role="status">
                  {running.name}: {running.phase},{" "}
                  {running.bytes_total === 0 ? bytesText(running.bytes) : percentText(running.bytes / running.bytes_total)}
                </p>
              )}
              {last !== null && last.error !== null && (
                <p class="note bad" role="status">
                  {last.name} was not made <When at={last.ended_at} />: {last.error}
                </p>
              )}
              {backups.length === 0 ? (
                <Empty title="No backup yet">
                  The first copies everything; those behind it link what has not changed. <code>vedette restore</code> puts one back.
                </Empty>
              ) : (
                <Table
                  label="Backups"
                  rows={backups}
                  keyOf={({ name }) => name}
                  columns={[
                    { head: "Folder", show: ({ name }) => <code>{name}</code> },
                    { head: "Holds all up to", show: ({ cut_at }) => <When at={cut_at} /> },
                    { head: "Size", isNumber: true, show: ({ bytes }) => bytesText(bytes) },
                    { head: "of it linked", isNumber: true, show: ({ linked_bytes }) => bytesText(linked_bytes) },
                    { head: "Version", show: ({ version }) => <Tag>{version}</Tag> },
                  ]}
                />
              )}
            </div>
          )}
        </Shown>
      </Panel>
      <Configuration />
    </>
  );
}

interface Imported {
  readonly sections: Readonly<Record<string, Readonly<Record<"created" | "changed" | "unchanged" | "refused", number>>>>;
  readonly problems: ReadonlyArray<{ readonly section: string; readonly index: number; readonly message: string }>;
  readonly problems_total: number;
}

function Configuration() {
  const [text, setText] = useState("");
  const [tried, setTried] = useState<{ readonly text: string; readonly outcome: Imported }>();
  const [fault, setFault] = useState("");
  const read = async () => setText(JSON.stringify(await call("GET /api/v1/config"), null, 2));
  const send = async (dry_run: boolean) => {
    setFault("");
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch (error) {
      return setFault(`This is not JSON: ${(error as Error).message}`);
    }
    const outcome = await call<Imported>("POST /api/v1/config", { query: { dry_run }, body });
    setTried({ text, outcome });
    if (dry_run) return;
    notify("good", "Saved");
    noteChange();
  };
  const isTried = tried?.text === text;
  return (
    <Panel
      title="Configuration"
      aside={
        <>
          <Button onClick={read}>Read the configuration</Button>
          {text !== "" && <CopyButton text={text} />}
        </>
      }
    >
      <div class="stack">
        <label class="field">
          <span>Settings, labels, limits, rules and webhooks of this tenant, without secrets</span>
          <textarea rows={10} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        {fault !== "" && (
          <p class="note bad" role="alert">
            {fault}
          </p>
        )}
        {tried !== undefined && isTried && <ImportOutcome of={tried.outcome} />}
        <div class="tools">
          <Button tone={isTried ? "plain" : "main"} onClick={() => send(true)} disabled={text === ""}>
            Look at what would change
          </Button>
          <Button
            tone={isTried ? "main" : "plain"}
            onClick={() => send(false)}
            disabled={!isTried}
            label={isTried ? "Import" : "Look at it first"}
          >
            Import
          </Button>
        </div>
      </div>
    </Panel>
  );
}

function ImportOutcome({ of: { sections, problems, problems_total } }: { of: Imported }) {
  return (
    <div class={`note stack ${problems_total === 0 ? "good" : "bad"}`} role="status">
      {Object.entries(sections).map(([section, { created, changed, unchanged, refused }]) => (
        <span key={section}>
          {section.replaceAll("_", " ")}: {created} new, {changed} changed, {unchanged} as they are, {refused} refused
        </span>
      ))}
      {problems.slice(0, 20).map(({ section, index, message }) => (
        <span key={`${section} ${index} ${message}`}>
          {section} {index + 1}: {message}
        </span>
      ))}
    </div>
  );
}
