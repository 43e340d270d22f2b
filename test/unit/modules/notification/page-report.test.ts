// Reports of pages over a range of time.
import { expect, it } from "vitest";
import { Rig, START_MS } from "../../../support/coordinator-rig.ts";

const MINUTE_MS = 60_000;
const iso = (ms: number) => new Date(START_MS + ms).toISOString();

it("take a beginning that is ahead of the server's clock, as a caller's may be by minutes", async () => {
  const rig = await Rig.open();
  for (const minutes of [-5, 0, 3])
    expect([minutes, (await rig.ask("pageReport", { since: iso(minutes * MINUTE_MS) })).status]).toEqual([minutes, 200]);
  expect((await rig.ask("pageReport", { since: iso(0), until: iso(-MINUTE_MS) })).status).toBe(400);
});
