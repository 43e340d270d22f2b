// Runbooks and their runs.
import { Head } from "../parts/basics.tsx";
import { Listed } from "./listed.tsx";

export function Runbooks() {
  return (
    <>
      <Head title="Runbooks" about="What is done about a finding, by itself or after an approval." />
      <Listed title="Runbooks" of="GET /api/v1/runbooks" empty="No runbook" />
      <Listed title="Runs" of="GET /api/v1/runbooks/executions" empty="None has run" />
    </>
  );
}
