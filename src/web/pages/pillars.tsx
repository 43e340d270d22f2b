// Business view: how tenants, products and other dimensions do, and which services belong to them; the box takes many lines.
import { useMemo, useState } from "preact/hooks";
import { noteChange } from "../client/answers.ts";
import { call, callPages } from "../client/client.ts";
import { Button, Empty, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { maturityText } from "../view/maturity-text.ts";
import { numberText, plural } from "../view/number-text.ts";
import { type EntryPreview, type MapEntry, type ParsedLines, parseLines, parts, previewEntries } from "../view/service-map-lines.ts";

interface StoredEntry extends MapEntry {
  readonly custom_keys: Readonly<Record<string, string>>;
}

interface Score {
  readonly pillar: string;
  readonly value: string;
  readonly score: number | null;
  readonly members: number;
  readonly evaluated: number;
  readonly maturity: string;
  readonly updated_at: string | null;
  readonly drivers: ReadonlyArray<{ readonly service_id: string; readonly contribution: number }>;
}

export function Pillars() {
  return (
    <>
      <Head title="Business view" about="Tenants, products and your own dimensions: how each does, by the services that belong to it." />
      <Scores />
      <BulkBox />
      <Entries />
    </>
  );
}

function Scores() {
  const list = usePages<Score>("GET /api/v1/pillars/scores", { query: { limit: 50 } }, "scores", 60_000);
  return (
    <Panel title="Scores">
      <Shown of={list.answer}>
        {() =>
          list.rows.length === 0 ? (
            <Empty title="No scores yet">Map services below; values are scored once a minute.</Empty>
          ) : (
            <Table
              label="Scores"
              rows={list.rows}
              keyOf={({ pillar, value }) => `${pillar} ${value}`}
              columns={[
                { head: "Dimension", show: ({ pillar }) => pillar },
                { head: "Value", show: ({ value }) => <Name text={value} /> },
                {
                  head: "Score",
                  isNumber: true,
                  show: ({ score }) =>
                    score === null ? "–" : <Tag tone={score >= 0.95 ? "high" : score >= 0.8 ? "medium" : ""}>{numberText(score)}</Tag>,
                },
                { head: "Services", isNumber: true, show: ({ evaluated, members }) => `${evaluated} of ${members}` },
                {
                  head: "Driven by",
                  show: ({ drivers }) =>
                    drivers
                      .slice(0, 3)
                      .map(({ service_id }) => service_id)
                      .join(", ") || "–",
                },
                { head: "Baseline", show: ({ maturity }) => <Tag>{maturityText(maturity)}</Tag> },
                { head: "Of", isTight: true, show: ({ updated_at }) => <When at={updated_at} /> },
              ]}
            />
          )
        }
      </Shown>
    </Panel>
  );
}

const PREVIEWED_ROWS = 200;
const STORED_MOST = 100_000;

interface Preview {
  readonly entries: readonly EntryPreview[];
  readonly counts: Readonly<Record<string, number>>;
}

function BulkBox() {
  const [text, setText] = useState("");
  const [preview, setPreview] = useState<Preview>();
  const [sent, setSent] = useState<number>();
  const parsed = useMemo(() => parseLines(text), [text]);
  const check = async () => {
    const [map, services] = await Promise.all([
      callPages<StoredEntry>("GET /api/v1/pillars/service-map", {}, "entries", STORED_MOST),
      callPages<{ service_id: string }>("GET /api/v1/services", {}, "services", STORED_MOST),
    ]);
    const stored = new Map(map.rows.map((entry) => [entry.service_id, entry]));
    const entries = previewEntries(parsed.entries, stored, new Set(services.rows.map(({ service_id }) => service_id)));
    const counts: Record<string, number> = {};
    for (const { change } of entries) counts[change] = (counts[change] ?? 0) + 1;
    setPreview({ entries, counts });
  };
  const save = async () => {
    const changed = (preview?.entries ?? []).filter(({ change }) => change !== "same").map(({ entry }) => entry);
    let done = 0;
    for (const part of parts(changed)) {
      setSent(done);
      await call("PUT /api/v1/pillars/service-map", { body: { entries: part } });
      done += part.length;
    }
    setSent(undefined);
    setText("");
    setPreview(undefined);
    notify("good", `${plural(done, "service", "services")} mapped`);
    noteChange();
  };
  return (
    <Panel title="Bulk edit">
      <div class="stack">
        <label class="field">
          <span>
            One service a line: service_id, tenant_id, product_id. The product may be left out; tabs, quotes and a header line are
            understood.
          </span>
          <textarea
            rows={8}
            value={text}
            spellcheck={false}
            placeholder={"checkout, acme, shop\nsearch, acme\ninventory, globex, warehouse"}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setPreview(undefined);
            }}
          />
        </label>
        <BoxNotes parsed={parsed} isEmpty={text.trim() === ""} />
        {preview !== undefined && <PreviewTable preview={preview} />}
        <div class="tools">
          {preview === undefined ? (
            <Button tone="main" onClick={check} disabled={parsed.entries.length === 0 || parsed.faults.length > 0}>
              Look at what would change
            </Button>
          ) : (
            <Button tone="main" onClick={save} disabled={preview.entries.every(({ change }) => change === "same")}>
              {sent === undefined ? "Save" : `${sent} saved …`}
            </Button>
          )}
          <span class="faint">Keys of other dimensions that a service has stay as they are.</span>
        </div>
      </div>
    </Panel>
  );
}

const FAULTS_SHOWN = 10;

function BoxNotes({ parsed, isEmpty }: { parsed: ParsedLines; isEmpty: boolean }) {
  if (isEmpty) return null;
  return (
    <>
      <p class="soft" role="status">
        {plural(parsed.entries.length, "service", "services")}
        {parsed.hasHeader && ", a header line"}
        {parsed.doubled.length > 0 &&
          `, ${plural(parsed.doubled.length, "service", "services")} more than once: the last line counts (${parsed.doubled.slice(0, 5).join(", ")})`}
      </p>
      {parsed.faults.length > 0 && (
        <div class="note bad" role="alert">
          <ul>
            {parsed.faults.slice(0, FAULTS_SHOWN).map(({ line, message }) => (
              <li key={line}>
                line {line}: {message}
              </li>
            ))}
          </ul>
          {parsed.faults.length > FAULTS_SHOWN && `and ${parsed.faults.length - FAULTS_SHOWN} more`}
        </div>
      )}
    </>
  );
}

function PreviewTable({ preview: { entries, counts } }: { preview: Preview }) {
  const neverSeen = entries.filter(({ isNeverSeen }) => isNeverSeen).length;
  const changed = entries.filter(({ change }) => change !== "same");
  return (
    <>
      <div class="row" role="status">
        {Object.entries(counts).map(([change, count]) => (
          <Tag key={change} tone={change === "same" ? "" : "accent"}>
            {count} {change}
          </Tag>
        ))}
        {neverSeen > 0 && <Tag tone="medium">{neverSeen} never seen: no telemetry names them so far</Tag>}
      </div>
      {changed.length > 0 && (
        <Table
          label="What would change"
          rows={changed.slice(0, PREVIEWED_ROWS)}
          keyOf={({ entry }) => entry.service_id}
          columns={[
            {
              head: "Service",
              show: ({ entry, isNeverSeen }) => (
                <span class="row">
                  <Name text={entry.service_id} />
                  {isNeverSeen && <Tag tone="medium">never seen</Tag>}
                </span>
              ),
            },
            { head: "Change", show: ({ change }) => <Tag tone="accent">{change}</Tag> },
            { head: "Tenant", show: ({ entry, before }) => <FromTo from={before?.tenant_id} to={entry.tenant_id} /> },
            { head: "Product", show: ({ entry, before }) => <FromTo from={before?.product_id} to={entry.product_id} /> },
          ]}
        />
      )}
      {changed.length > PREVIEWED_ROWS && <p class="faint">and {changed.length - PREVIEWED_ROWS} more</p>}
    </>
  );
}

function FromTo({ from, to }: { from: string | undefined; to: string }) {
  if (from === undefined || from === to) return <Name text={to} />;
  return (
    <>
      <s class="faint">
        <Name text={from} />
      </s>{" "}
      <Name text={to} />
    </>
  );
}

function Entries() {
  const list = usePages<StoredEntry>("GET /api/v1/pillars/service-map", { query: { limit: 100 } }, "entries");
  return (
    <Panel title="Mapping">
      <Shown of={list.answer}>
        {() =>
          list.rows.length === 0 ? (
            <Empty title="Nothing is mapped" />
          ) : (
            <Table
              label="Mapping"
              rows={list.rows}
              keyOf={({ service_id }) => service_id}
              columns={[
                { head: "Service", show: ({ service_id }) => <Name text={service_id} /> },
                { head: "Tenant", show: ({ tenant_id }) => <Name text={tenant_id} /> },
                { head: "Product", show: ({ product_id }) => <Name text={product_id} /> },
                {
                  head: "Other keys",
                  show: ({ custom_keys }) =>
                    Object.entries(custom_keys)
                      .map(([name, value]) => `${name}=${value}`)
                      .join(" ") || "–",
                },
              ]}
            />
          )
        }
      </Shown>
      <MoreRows of={list} noun="services" />
    </Panel>
  );
}
