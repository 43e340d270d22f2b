// How the server itself does: its parts, the store, what detection covers, faults of the data, and who one is here.
import { isSignedOut, noteChange, useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, Head, Name, Panel, Shown, Tag, When } from "../parts/basics.tsx";
import { Facts, Table } from "../parts/table.tsx";
import { notify } from "../state/notices.tsx";
import { link } from "../state/route.ts";
import { bytesText, countText, percentText } from "../view/number-text.ts";
import type { Status } from "../view/shapes.ts";
import { durationText } from "../view/time-text.ts";

export function System() {
  const status = useAnswer<Status>("GET /api/v1/status", {}, 5_000);
  return (
    <>
      <Head title="System" about="How the server itself does.">
        <a class="button" href="docs">
          The API
        </a>
        <a class="button" href="metrics">
          Metrics
        </a>
      </Head>
      <Shown of={status}>{(known) => <Parts status={known} />}</Shown>
      <div class="grid">
        <Coverage />
        <Me />
      </div>
      <Faults />
    </>
  );
}

const PART_NAMES: Readonly<Record<string, string>> = {
  watchdog: "detection loop",
  vectorizer: "business scores",
  rca: "root-cause analysis",
};

function Parts({ status }: { status: Status }) {
  const { store, watchdog, queues } = status;
  return (
    <>
      <div class="row">
        {Object.entries(status.components).map(([part, state]) => (
          <Tag key={part} tone={state === "ok" ? "good" : state === "disabled" || state === "idle" ? "" : "high"}>
            {PART_NAMES[part] ?? part}: {state}
          </Tag>
        ))}
      </div>
      {status.notifier.reasons.length > 0 && <p class="note warn">{status.notifier.reasons.join("; ")}</p>}
      <div class="grid">
        <Panel title="Detection">
          <Facts
            facts={[
              ["Series monitored", countText(watchdog.metrics_monitored)],
              ["Layers", watchdog.layers.join(", ")],
              ["Lag", durationText(watchdog.lag_seconds * 1000)],
              [
                "Cycles",
                `${countText(watchdog.cycles)}, ${watchdog.failed_cycles} failed; the last took ${durationText(watchdog.duration_ms)}`,
              ],
              ["Last cycle", <When at={watchdog.last_run} key="run" />],
              ["Waiting", `${queues.frames_waiting} findings, ${queues.queries_waiting} queries`],
            ]}
          />
        </Panel>
        <Panel title="Store">
          <Facts
            facts={[
              ["State", store.state === "ok" ? "takes writes" : `refuses writes: ${store.reason ?? ""} ${store.error_code ?? ""}`],
              ["Used", bytesText(store.used_bytes)],
              ["Log", bytesText(store.log_bytes)],
              ["Free", bytesText(store.free_bytes)],
              ["Full", percentText(store.fill)],
            ]}
          />
        </Panel>
        <Panel title="Engines">
          <Table
            label="Engines"
            rows={status.engines}
            keyOf={({ engine }) => String(engine)}
            columns={[
              { head: "Engine", show: ({ engine }) => String(engine) },
              { head: "State", show: ({ state }) => <Tag tone={state === "ok" ? "good" : "high"}>{state}</Tag> },
              { head: "Series", isNumber: true, show: ({ series }) => countText(series ?? 0) },
            ]}
          />
          <p class="faint">
            vedette {status.versions.vedette}, Node {status.versions.node}
          </p>
        </Panel>
      </div>
    </>
  );
}

interface LayerCounts {
  readonly evaluated: number;
  readonly learning: number;
  readonly skipped: Readonly<Record<string, number>>;
}

interface CoverageAnswer {
  readonly layers: Readonly<Record<string, LayerCounts>>;
  readonly streams: number;
  readonly cardinality: { readonly services: ReadonlyArray<{ readonly service_id: string; readonly streams: number }> };
}

function Coverage() {
  const answer = useAnswer<CoverageAnswer>("GET /api/v1/coverage");
  return (
    <Panel title="Detection coverage">
      <Shown of={answer}>
        {({ layers, cardinality }) => (
          <div class="stack">
            <Table
              label="Layers"
              rows={Object.entries(layers)}
              keyOf={([layer]) => layer}
              columns={[
                { head: "Layer", show: ([layer]) => layer.replaceAll("_", " ") },
                { head: "Judged", isNumber: true, show: ([, { evaluated }]) => countText(evaluated) },
                { head: "Learning", isNumber: true, show: ([, { learning }]) => countText(learning) },
                {
                  head: "Skipped",
                  show: ([, { skipped }]) =>
                    Object.entries(skipped)
                      .map(([reason, count]) => `${reason.replaceAll("_", " ")} ${countText(count)}`)
                      .join(", ") || "–",
                },
              ]}
            />
            <p class="soft">
              Most series:{" "}
              {cardinality.services.slice(0, 5).map(({ service_id, streams }) => (
                <a href={link(["services"], { q: service_id })} key={service_id} class="chip">
                  <Name text={service_id} /> <Tag>{countText(streams)}</Tag>
                </a>
              ))}
            </p>
          </div>
        )}
      </Shown>
    </Panel>
  );
}

interface Permissions {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly role: string;
  readonly permissions: readonly string[];
}

function Me() {
  const answer = useAnswer<Permissions>("GET /api/v1/rbac/permissions");
  const signOut = async () => {
    await call("POST /sign-out");
    notify("good", "Signed out of this browser");
    noteChange();
  };
  return (
    <Panel title="Who you are here">
      <Shown of={answer} rows={3}>
        {({ tenant_id, user_id, role, permissions }) => (
          <div class="stack">
            <Facts
              facts={[
                ["User", <Name text={user_id} key="user" />],
                ["Role", role],
                ["Tenant", <Name text={tenant_id} key="tenant" />],
                ["May", permissions.join(", ")],
              ]}
            />
            <div class="tools">
              <Button
                icon="key"
                onClick={() => {
                  isSignedOut.value = true;
                }}
              >
                Sign in as another
              </Button>
              <Button onClick={signOut}>Sign out</Button>
            </div>
          </div>
        )}
      </Shown>
    </Panel>
  );
}

interface Faults {
  readonly faults: ReadonlyArray<{
    readonly id: string;
    readonly kind: string;
    readonly what: string;
    readonly since: string;
    readonly acknowledged_by: string | null;
  }>;
  readonly open: number;
}

function Faults() {
  const answer = useAnswer<Faults>("GET /api/v1/data-faults");
  if (answer.data === undefined || answer.data.faults.length === 0) return null;
  const acknowledge = async () => {
    await call("POST /api/v1/data-faults/acknowledge");
    noteChange();
  };
  return (
    <Panel title="Faults of the data" aside={answer.data.open > 0 && <Button onClick={acknowledge}>I have seen them</Button>}>
      <ul class="stack">
        {answer.data.faults.map(({ id, what, since, acknowledged_by }) => (
          <li key={id}>
            <Tag tone={acknowledged_by === null ? "high" : ""}>{acknowledged_by === null ? "open" : `seen by ${acknowledged_by}`}</Tag>{" "}
            <When at={since} /> {what}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
