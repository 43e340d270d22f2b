// Models of services and the jobs that train them.
import { place } from "../app/place.ts";
import { Head } from "../parts/basics.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Listed } from "./listed.tsx";

export function Models() {
  const { service_id } = place.value.query;
  return (
    <>
      <Head title="Models" about="What has been learnt of services, and the jobs that learn it." />
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
      </search>
      <Listed title="Models" of="GET /api/v1/ml/models" query={{ service_id }} empty="No model yet: a service needs some days of values" />
      <Listed title="Jobs" of="GET /api/v1/ml/jobs" empty="No job has run" />
    </>
  );
}
