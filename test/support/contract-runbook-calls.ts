// The calls of contract-calls.ts on runbooks, with RUNBOOK_FOUR_EYES off. No request leaves: what there is to do waits for approvals, or is rendered.
import type { ContractDriver } from "./contract-driver.ts";

const HTTP = {
  type: "http",
  name: "go",
  url: "https://example.invalid/{{service_id}}",
  headers: { "X-Token": "{{secrets.token}}" },
  approval_required: true,
};
const RUNBOOK = {
  id: "contract",
  name: "Contract",
  match: { service_id_regex: "nobody" },
  steps: [HTTP, { type: "wait", seconds: 1 }],
  secrets: { token: "t" },
};
const STEP = { step: "go", comment: "seen" };
let started: string[] = [];

export const RUNBOOK_CALLS: Readonly<Record<string, (driver: ContractDriver) => Promise<void>>> = {
  createRunbook: async ({ call }) => {
    await call("createRunbook", 201, { body: RUNBOOK });
    await call("createRunbook", 201, { body: { ...RUNBOOK, id: "contract-2" } });
    await call("createRunbook", 409, { body: RUNBOOK });
    await call("createRunbook", 400, { body: { ...RUNBOOK, id: "executions" } });
    await call("createRunbook", 400, {
      body: { ...RUNBOOK, id: "contract-3", steps: [{ action: "http", url: "https://example.invalid/" }] },
    });
    await call("createRunbook", 400, { body: { ...RUNBOOK, id: "contract-3", steps: [{ type: "http", url: "https://{{service_id}}/" }] } });
    await call("createRunbook", 400, { body: { ...RUNBOOK, id: "contract-3", steps: [{ type: "http", url: "http://169.254.169.254/" }] } });
    await call("createRunbook", 400, { body: { ...RUNBOOK, id: "contract-3", steps: [{ type: "annotate", text: "{{secrets.token}}" }] } });
  },
  runbooks: async ({ call }) => {
    const first = await call("runbooks", 200, { query: { limit: "1" } });
    await call("runbooks", 200, { query: { limit: "1", page_token: first.page_token } });
  },
  runbook: async ({ call }) => {
    await call("runbook", 200, { path: { id: "contract" } });
    await call("runbook", 404, { path: { id: "nobody" } });
  },
  changeRunbook: async ({ call }) => {
    const body = { ...RUNBOOK, id: "contract-2", secrets: { token: "***" } };
    await call("changeRunbook", 200, { path: { id: "contract-2" }, body });
    await call("changeRunbook", 400, { path: { id: "contract-2" }, body: { ...body, secrets: { other: "***" } } });
    await call("changeRunbook", 404, { path: { id: "nobody" }, body: { ...RUNBOOK, id: "nobody" } });
  },
  deleteRunbook: async ({ call }) => {
    await call("deleteRunbook", 204, { path: { id: "contract-2" } });
    await call("deleteRunbook", 404, { path: { id: "contract-2" } });
  },
  executeRunbook: async ({ call }) => {
    const path = { id: "contract" };
    await call("executeRunbook", 201, { path, query: { dry_run: "true" } });
    await call("executeRunbook", 404, { path: { id: "nobody" }, body: {} });
    await call("executeRunbook", 404, { path, body: { anomaly_id: "0".repeat(32) } });
    started = [];
    for (let run = 0; run < 10; run++) started.push((await call("executeRunbook", 201, { path, body: {} })).execution_id);
    await call("executeRunbook", 429, { path, body: {} });
  },
  executions: async ({ call }) => {
    const first = await call("executions", 200, { query: { limit: "1", state: "pending_approval" } });
    await call("executions", 200, { query: { limit: "1", state: "pending_approval", page_token: first.page_token } });
  },
  execution: async ({ call }) => {
    await call("execution", 200, { path: { id: started[0] ?? "" } });
    await call("execution", 404, { path: { id: "nobody" } });
  },
  approveStep: async ({ call }) => {
    await call("approveStep", 200, { path: { id: started[0] ?? "" }, body: STEP });
    await call("approveStep", 409, { path: { id: started[0] ?? "" }, body: STEP });
    await call("approveStep", 404, { path: { id: "nobody" }, body: STEP });
  },
  rejectStep: async ({ call }) => {
    await call("rejectStep", 200, { path: { id: started[1] ?? "" }, body: STEP });
    await call("rejectStep", 409, { path: { id: started[1] ?? "" }, body: STEP });
  },
  cancelExecution: async ({ call }) => {
    await call("cancelExecution", 200, { path: { id: started[2] ?? "" } });
    await call("cancelExecution", 409, { path: { id: started[2] ?? "" }, body: { comment: "again" } });
    await call("cancelExecution", 404, { path: { id: "nobody" }, body: {} });
  },
};
