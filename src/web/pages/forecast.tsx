// What is to come: trends that lead to a limit, anomalies that are likely, correlated services.
import { place } from "../app/place.ts";
import { Empty, Head } from "../parts/basics.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Listed } from "./listed.tsx";

export function Forecast() {
  const { service_id } = place.value.query;
  return (
    <>
      <Head title="Forecast" about="Trends that lead to a limit, what is likely to come, and who moves along." />
      <search class="filters">
        <SearchField label="Service, its whole name" name="service_id" />
      </search>
      {service_id === undefined ? (
        <Empty title="Which service?">Name it above, or come here from its page.</Empty>
      ) : (
        <>
          <Listed title="On its way to a limit" of="GET /api/v1/ml/degradation" query={{ service_id }} empty="Nothing is" />
          <Listed title="Likely to come" of="GET /api/v1/ml/predict" query={{ service_id }} empty="Nothing is foreseen" />
          <Listed
            title="Moves along with it"
            of="GET /api/v1/rca/correlations"
            query={{ service_id }}
            empty="No other service moves along"
          />
        </>
      )}
    </>
  );
}
