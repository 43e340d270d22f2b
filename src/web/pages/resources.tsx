// What the pages of lists show.
import { useState } from "preact/hooks";
import { noteChange } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { Button, Name, Secret, Tag, When } from "../parts/basics.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify } from "../state/notices.tsx";
import { parseMatchers } from "../view/matchers.ts";
import { countText } from "../view/number-text.ts";
import { type Resource, ResourcePage, type Row } from "./resource-page.tsx";

const text = (head: string, name: string) => ({ head, show: (row: Row) => <Name text={String(row[name] ?? "")} /> });
const time = (head: string, name: string) => ({ head, isTight: true, show: (row: Row) => <When at={row[name] as string | null} /> });
const count = (head: string, name: string) => ({ head, isNumber: true, show: (row: Row) => countText(Number(row[name] ?? 0)) });
const key = (name: string) => (row: Row) => String(row[name]);

interface Matcher {
  readonly name: string;
  readonly operator: string;
  readonly value: string;
}

const matchers = (head: string, name: string) => ({
  head,
  show: (row: Row) => (
    <div class="row">
      {(row[name] as readonly Matcher[]).map((one) => (
        <code key={`${one.name}${one.operator}${one.value}`}>
          {one.name}
          {one.operator}
          <bdi>{one.value}</bdi>
        </code>
      ))}
    </div>
  ),
});

/** Lines of matchers become what the API takes. */
function shapeMatchers(body: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  const read = names.map((name) => {
    const parsed = parseMatchers(String(body[name] ?? ""));
    if (!parsed.ok) throw new Error(`${name}: ${parsed.message}`);
    return [name, parsed.matchers] as const;
  });
  return { ...body, ...Object.fromEntries(read) };
}

const INHIBITIONS: Resource = {
  title: "Inhibitions",
  about: "While an alert of the first kind fires, those of the second kind are stored, and nobody is notified.",
  list: "GET /api/v1/inhibitions",
  member: "inhibitions",
  noun: "inhibitions",
  keyOf: key("inhibition_id"),
  columns: [
    matchers("While these fire", "source_matchers"),
    matchers("these are quiet", "target_matchers"),
    { head: "where equal", show: (row) => (row.equal as readonly string[]).join(", ") || "–" },
    text("Why", "comment"),
    text("By", "created_by"),
  ],
  create: {
    key: "POST /api/v1/inhibitions",
    action: "Add an inhibition",
    fields: [
      {
        name: "source_matchers",
        label: "While alerts fire with",
        kind: "matchers",
        isRequired: true,
        hint: 'one a line: service_id="postgres"',
      },
      { name: "target_matchers", label: "keep quiet those with", kind: "matchers", isRequired: true, hint: "service_id=~checkout|cart" },
      { name: "equal", label: "where these labels are equal", kind: "list", hint: "environment" },
      { name: "comment", label: "Why", isRequired: true },
    ],
    shape: (body) => shapeMatchers(body, ["source_matchers", "target_matchers"]),
  },
  remove: { key: "DELETE /api/v1/inhibitions/{id}", path: (row) => ({ id: String(row.inhibition_id) }), word: "Remove" },
  empty: "No inhibition: every alert speaks for itself",
};

const USERS: Resource = {
  title: "Users",
  about: "Who may do what. People come with a token of your identity provider; here their role is bound.",
  list: "GET /api/v1/users",
  member: "users",
  noun: "users",
  filters: [["user_id", "User, the whole name"]],
  keyOf: key("user_id"),
  columns: [
    text("User", "user_id"),
    text("Name", "name"),
    { head: "Role", show: (row) => <Tag>{String(row.role)}</Tag> },
    { head: "State", show: (row) => (row.disabled === true ? <Tag tone="medium">disabled</Tag> : "active") },
    time("Changed", "updated_at"),
  ],
  create: {
    key: "POST /api/v1/users",
    action: "Add a user",
    fields: [
      { name: "user_id", label: "User, as the token's subject names them", isRequired: true },
      { name: "role", label: "Role", choices: ["viewer", "operator", "admin"], initial: "viewer", isRequired: true },
      { name: "name", label: "Name" },
    ],
  },
  actions: (row) => (
    <Button
      onClick={async () => {
        await call("PATCH /api/v1/users/{user_id}", { path: { user_id: String(row.user_id) }, body: { disabled: row.disabled !== true } });
        noteChange();
      }}
    >
      {row.disabled === true ? "Enable" : "Disable"}
    </Button>
  ),
  remove: { key: "DELETE /api/v1/users/{user_id}", path: (row) => ({ user_id: String(row.user_id) }), word: "Remove" },
  empty: "No user is bound: tokens say the role themselves",
};

const PLANS = ["free", "starter", "pro", "enterprise"];

const TENANTS: Resource = {
  title: "Tenants",
  about: "Who shares this server. Nobody sees another's data.",
  list: "GET /api/v1/tenants",
  member: "tenants",
  noun: "tenants",
  keyOf: key("tenant_id"),
  columns: [
    text("Tenant", "tenant_id"),
    text("Name", "name"),
    { head: "Plan", show: (row) => <Tag>{String(row.plan)}</Tag> },
    count("Events this month", "events_this_month"),
    time("Since", "created_at"),
  ],
  create: {
    key: "POST /api/v1/tenants",
    action: "Add a tenant",
    fields: [
      { name: "tenant_id", label: "Tenant", isRequired: true },
      { name: "name", label: "Name", isRequired: true },
      { name: "plan", label: "Plan", choices: PLANS, initial: "starter", isRequired: true },
      { name: "contact_email", label: "E-mail" },
    ],
  },
  actions: (row) => (
    <select
      aria-label={`Plan of ${String(row.tenant_id)}`}
      value={String(row.plan)}
      onChange={async (event) => {
        const plan = event.currentTarget.value;
        await call("PATCH /api/v1/tenants/{id}", { path: { id: String(row.tenant_id) }, body: { plan } }).then(
          () => notify("good", "Plan changed"),
          (error: Error) => notify("bad", error.message),
        );
        noteChange();
      }}
    >
      {PLANS.map((plan) => (
        <option key={plan}>{plan}</option>
      ))}
    </select>
  ),
  empty: "The tenant “default” is alone here",
};

const AUDIT: Resource = {
  title: "Audit log",
  about: "Who changed what, from where, and what it was before.",
  list: "GET /api/v1/audit",
  member: "entries",
  noun: "changes",
  filters: [
    ["actor", "Who"],
    ["action", "Action, such as silence.create"],
    ["object", "Object"],
  ],
  keyOf: key("audit_id"),
  columns: [
    time("When", "at"),
    text("Who", "actor"),
    { head: "Action", show: (row) => <code>{String(row.action)}</code> },
    text("Object", "object"),
    {
      head: "Change",
      show: (row) => (
        <details>
          <summary>before and after</summary>
          <pre>{JSON.stringify({ before: row.before, after: row.after }, null, 1)}</pre>
        </details>
      ),
    },
    text("From", "source_address"),
  ],
  empty: "Nothing has been changed",
};

const BILLING: Resource = {
  title: "Usage",
  about: "Events that each tenant has sent in a month.",
  list: "GET /api/v1/billing/usage",
  member: "tenants",
  noun: "tenants",
  filters: [["month", "Month, such as 2026-01"]],
  keyOf: key("tenant_id"),
  columns: [
    text("Tenant", "tenant_id"),
    { head: "Plan", show: (row) => <Tag>{String(row.plan)}</Tag> },
    count("Events", "events"),
    {
      head: "By type",
      show: (row) =>
        Object.entries(row.by_type as Record<string, number>)
          .filter(([, number]) => number > 0)
          .map(([name, number]) => `${name} ${countText(number)}`)
          .join(", ") || "–",
    },
  ],
  empty: "Nothing was sent in this month",
};

const KEYS: Resource = {
  title: "API keys",
  about: "For senders and scripts. A key is shown once, when it is created; the server keeps a hash of it.",
  list: "GET /api/v1/apikeys",
  member: "keys",
  noun: "keys",
  keyOf: key("key_id"),
  columns: [
    text("Name", "name"),
    { head: "Key", show: (row) => <code>{String(row.prefix)}…</code> },
    { head: "Scope", show: (row) => <Tag>{String(row.scope)}</Tag> },
    { head: "Per second", isNumber: true, show: (row) => (row.rate_limit_rps === null ? "as the plan" : String(row.rate_limit_rps)) },
    time("Expires", "expires_at"),
    text("By", "created_by"),
  ],
  create: {
    key: "POST /api/v1/apikeys",
    action: "Create a key",
    fields: [
      { name: "name", label: "What it is for", isRequired: true },
      { name: "scope", label: "Scope", choices: ["ingestion", "readonly", "readwrite", "admin"], initial: "ingestion", isRequired: true },
      { name: "rate_limit_rps", label: "Requests a second, at most", kind: "number" },
      { name: "expires_at", label: "Expires", kind: "time", hint: "2031-01-31T12:00:00Z; empty: never" },
    ],
  },
  secret: "api_key",
  actions: (row) => <Rotate id={String(row.key_id)} />,
  remove: { key: "DELETE /api/v1/apikeys/{key_id}", path: (row) => ({ key_id: String(row.key_id) }), word: "Revoke" },
  empty: "No key: senders of this machine need none",
};

function Rotate({ id }: { id: string }) {
  const [secret, setSecret] = useState("");
  const rotate = async () => {
    const made = await call<{ api_key: string }>("POST /api/v1/apikeys/{key_id}/rotate", { path: { key_id: id } });
    setSecret(made.api_key);
  };
  const done = () => {
    setSecret("");
    noteChange();
  };
  return (
    <>
      <Button onClick={rotate}>Rotate</Button>
      {secret !== "" && (
        <Dialog title="The new key" onClose={done}>
          <Secret text={secret} onDone={done} />
        </Dialog>
      )}
    </>
  );
}

/** By the name that the map of pages has. */
const RESOURCES: Readonly<Record<string, Resource>> = {
  inhibitions: INHIBITIONS,
  users: USERS,
  tenants: TENANTS,
  audit: AUDIT,
  billing: BILLING,
  keys: KEYS,
};

export function resourcePage(name: string) {
  const of = RESOURCES[name];
  if (of === undefined) throw new Error(`there is no resource ${name}`);
  return () => <ResourcePage of={of} />;
}
