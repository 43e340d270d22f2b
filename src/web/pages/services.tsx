// All services: found, sorted and paged by the server, so that ten thousand are as quick as ten.
import { Empty, Head, Name, SeverityMark, Shown, Tag, When } from "../parts/basics.tsx";
import { Choice } from "../parts/choice.tsx";
import { EnvironmentField } from "../parts/environment.tsx";
import { ReadsOn } from "../parts/long-list.tsx";
import { MoreRows, usePages } from "../parts/pages-of.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { link, route } from "../state/route.ts";
import { maturityText } from "../view/maturity-text.ts";
import { countText } from "../view/number-text.ts";
import type { Service } from "../view/shapes.ts";

/** Rows of a page: read on while the reader scrolls; of what is searched for the first screen is enough. */
const ROWS = 200;
const FOUND_ROWS = 60;

export function Services() {
  const { q, environment, team, state, sort = "worst" } = route.value.query;
  const list = usePages<Service>(
    "GET /api/v1/services",
    { query: { q, environment, team, state, sort, limit: q === undefined ? ROWS : FOUND_ROWS } },
    "services",
    30_000,
  );
  return (
    <>
      <Head title="Services" about="Who has sent something, with what is open at each.">
        <a class="button" href={link(["graph"], { environment })}>
          Who calls whom
        </a>
      </Head>
      <search class="filters">
        <SearchField label="Find a service" />
        <Choice name="state" label="State" choices={["open", "quiet"]} />
        <Choice name="sort" label="Order" choices={["name", "latest"]} any="worst first" />
        <EnvironmentField />
        <SearchField label="Team" name="team" />
      </search>
      <Shown of={list.answer} rows={10}>
        {() => (
          <section class="panel flush" aria-label="Services">
            {list.rows.length === 0 ? (
              <NothingListed isFiltered={[q, environment, team, state].some((one) => one !== undefined)} />
            ) : (
              <Table
                label="Services"
                rows={list.rows}
                keyOf={({ service_id, environment: of }) => `${of} ${service_id}`}
                columns={COLUMNS}
                total={list.total}
              />
            )}
          </section>
        )}
      </Shown>
      <ReadsOn hasMore={list.hasMore} readOn={list.readOn} />
      <MoreRows of={list} noun="services" />
    </>
  );
}

function NothingListed({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No service matches">
      <a href={link(["services"])}>Show all</a>
    </Empty>
  ) : (
    <Empty title="Nothing has come yet">
      Services appear with their first sample. <a href={link(["send"])}>Send something</a>
    </Empty>
  );
}

const COLUMNS = [
  {
    head: "Service",
    show: ({ service_id, environment }: Service) => (
      <a href={link(["service", service_id], { environment })}>
        <Name text={service_id} />
      </a>
    ),
  },
  {
    head: "Open",
    isTight: true,
    show: ({ open_anomalies, worst_severity, service_id, environment }: Service) =>
      worst_severity === null ? (
        <span class="faint">quiet</span>
      ) : (
        <a class="row" href={link(["anomalies"], { service_id, environment, state: "open" })}>
          <SeverityMark severity={worst_severity} /> {open_anomalies}
        </a>
      ),
  },
  { head: "Environment", show: ({ environment }: Service) => <Name text={environment} /> },
  { head: "Team", show: ({ team }: Service) => (team === null ? <span class="faint">–</span> : <Name text={team} />) },
  { head: "Baseline", show: ({ maturity }: Service) => <Tag>{maturityText(maturity)}</Tag> },
  { head: "Series", isNumber: true, show: ({ streams }: Service) => countText(streams) },
  { head: "Last sample", isTight: true, show: ({ last_sample }: Service) => <When at={last_sample} ago /> },
];
