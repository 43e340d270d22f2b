// Who calls whom: callers left, callees right, with what is open at each; as a picture and as a table.
import { useMemo } from "preact/hooks";
import { useAnswer } from "../client/answers.ts";
import { Empty, Head, Name, Panel, SeverityMark, Shown, Tag } from "../parts/basics.tsx";
import { BlastRadius } from "../parts/blast-radius.tsx";
import { Choice } from "../parts/choice.tsx";
import { EnvironmentField, InEnvironment } from "../parts/environment.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { link, route } from "../state/route.ts";
import { layoutGraph } from "../view/graph-layout.ts";
import { countText, numberText, percentText } from "../view/number-text.ts";
import type { Graph as GraphAnswer } from "../view/shapes.ts";

const NODE = { width: 216, height: 40, gapX: 84, gapY: 16 } as const;
const MARGIN = 12;

export function Graph() {
  const { service, depth, environment } = route.value.query;
  const answer = useAnswer<GraphAnswer>(
    "GET /api/v1/graph",
    { query: { service_id: service, environment, depth: service === undefined ? undefined : (depth ?? 2) } },
    30_000,
  );
  return (
    <>
      <Head
        title={
          service === undefined ? (
            "Service map"
          ) : (
            <span>
              Around <Name text={service} />
              <InEnvironment of={environment} />
            </span>
          )
        }
        about="Calls that traces of the last hour have shown. Callers stand left of what they call."
      >
        {service !== undefined && (
          <a class="button" href={link(["graph"], { environment })}>
            Everything
          </a>
        )}
      </Head>
      <search class="filters">
        <SearchField label="Around which service?" name="service" />
        {service !== undefined && <Choice name="depth" label="Steps" choices={["1", "3", "4"]} any="2" />}
        <EnvironmentField />
      </search>
      <Shown of={answer} rows={8}>
        {(graph) =>
          graph.nodes.length === 0 ? (
            <Empty title={service === undefined ? "No calls have been seen" : "No call of this service has been seen"}>
              The map is made from spans: <a href={link(["send"])}>send traces</a> over OTLP.
            </Empty>
          ) : (
            <>
              <section class="panel" aria-label="Service map">
                <Picture graph={graph} self={service} />
                {!graph.complete && (
                  <p class="faint">+{graph.nodes_total - graph.nodes.length} more services, farther away or with less to tell</p>
                )}
              </section>
              {service !== undefined && <BlastRadius serviceId={service} environment={environment} />}
              <Edges graph={graph} />
            </>
          )
        }
      </Shown>
    </>
  );
}

function keyOf({ service_id, environment }: { service_id: string; environment: string }): string {
  return `${environment} ${service_id}`;
}

function Picture({ graph, self }: { graph: GraphAnswer; self: string | undefined }) {
  const layout = useMemo(() => layoutOf(graph), [graph]);
  const hasEnvironments = new Set(graph.nodes.map(({ environment }) => environment)).size > 1;
  const nodes = new Map(graph.nodes.map((node) => [keyOf(node), node]));
  const places = new Map(layout.nodes.map(({ id, layer, row }) => [id, pointOf(layer, row, layout)]));
  const width = layout.layers * (NODE.width + NODE.gapX) - NODE.gapX + 2 * MARGIN;
  const height = layout.rows * (NODE.height + NODE.gapY) - NODE.gapY + 2 * MARGIN;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by keys
    <section class="graph" tabIndex={0} aria-label="Picture of the calls; the table below has them all">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <title>Calls between services</title>
        {layout.edges.map(({ from, to }) => {
          const [a, b] = [places.get(from), places.get(to)];
          if (a === undefined || b === undefined) return null;
          return <path key={`${from} ${to}`} class={`edge ${isBad(graph, from, to) ? "bad" : ""}`} d={curve(a, b)} />;
        })}
        {layout.nodes.map(({ id }) => {
          const node = nodes.get(id);
          const at = places.get(id);
          if (node === undefined || at === undefined) return null;
          const { service_id, environment, worst_severity, open_anomalies } = node;
          return (
            <a
              key={id}
              href={link(["service", service_id], { environment })}
              class={`node ${worst_severity ?? ""} ${service_id === self ? "self" : ""}`}
            >
              <title>{`${service_id}${environment === "" ? "" : ` in ${environment}`}: ${open_anomalies === 0 ? "quiet" : `${open_anomalies} open, ${worst_severity}`}`}</title>
              <rect x={at.x} y={at.y} width={NODE.width} height={NODE.height} rx="6" />
              <text x={at.x + 10} y={at.y + 17}>
                {cut(service_id)}
              </text>
              <text x={at.x + 10} y={at.y + 32} class="sub">
                {worst_severity === null ? `${countText(node.calls)} calls` : `${open_anomalies} open, ${worst_severity}`}
              </text>
              <text x={at.x + NODE.width - 10} y={at.y + 32} class="sub end">
                {hasEnvironments ? cut(environment, 16) : ""}
              </text>
            </a>
          );
        })}
      </svg>
    </section>
  );
}

function layoutOf({ nodes, edges }: GraphAnswer) {
  const weighted = nodes.map((node) => ({ id: keyOf(node), weight: 1e12 * (10 - node.depth) + 1e9 * node.open_anomalies + node.calls }));
  const environments = new Map(nodes.map((node) => [node.service_id, node.environment]));
  const callers = edges.map(({ caller, callee, environment, calls }) => ({
    from: `${environments.has(caller) && nodes.some((node) => keyOf(node) === `${environment} ${caller}`) ? environment : environments.get(caller)} ${caller}`,
    to: `${environment} ${callee}`,
    weight: calls,
  }));
  return layoutGraph(weighted, callers);
}

/** Columns stand in the middle of the tallest. */
function pointOf(layer: number, row: number, { nodes, rows }: ReturnType<typeof layoutGraph>): { x: number; y: number } {
  const own = nodes.filter((node) => node.layer === layer).length;
  const top = ((rows - own) * (NODE.height + NODE.gapY)) / 2;
  return { x: MARGIN + layer * (NODE.width + NODE.gapX), y: MARGIN + top + row * (NODE.height + NODE.gapY) };
}

function curve(a: { x: number; y: number }, b: { x: number; y: number }): string {
  const isForward = b.x > a.x;
  const [x1, x2] = isForward ? [a.x + NODE.width, b.x] : [a.x, b.x + NODE.width];
  const [y1, y2] = [a.y + NODE.height / 2, b.y + NODE.height / 2];
  const bend = isForward ? NODE.gapX / 2 : -NODE.gapX / 2;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

function isBad({ edges }: GraphAnswer, from: string, to: string): boolean {
  const edge = edges.find(({ caller, callee, environment }) => from.endsWith(` ${caller}`) && to === `${environment} ${callee}`);
  return edge !== undefined && edge.errors / Math.max(1, edge.calls) > 0.05;
}

/** Name, cut to what fits into a box. */
function cut(name: string, most = 22): string {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

function Edges({ graph }: { graph: GraphAnswer }) {
  const states = new Map(graph.nodes.map((node) => [keyOf(node), node]));
  const service = (id: string, environment: string) => {
    const node = states.get(keyOf({ service_id: id, environment })) ?? graph.nodes.find(({ service_id }) => service_id === id);
    const severity = node?.worst_severity ?? null;
    return (
      <a class="row" href={link(["service", id], { environment: node?.environment ?? environment })}>
        <Name text={id} /> {severity !== null && <SeverityMark severity={severity} />}
      </a>
    );
  };
  return (
    <Panel title="Calls">
      <Table
        label="Calls"
        rows={graph.edges}
        keyOf={({ caller, callee, environment }) => `${environment} ${caller} ${callee}`}
        columns={[
          { head: "Caller", show: ({ caller, environment }) => service(caller, environment) },
          { head: "Calls", show: ({ callee, environment }) => service(callee, environment) },
          { head: "Environment", show: ({ environment }) => <Name text={environment} /> },
          { head: "Number", isNumber: true, show: ({ calls }) => countText(calls) },
          {
            head: "Errors",
            isNumber: true,
            show: ({ calls, errors }) => (errors === 0 ? "0" : <Tag tone="high">{percentText(errors / calls)}</Tag>),
          },
          {
            head: "Mean ms",
            isNumber: true,
            show: ({ calls, duration_ms }) => numberText(Number((duration_ms / Math.max(1, calls)).toPrecision(3))),
          },
        ]}
      />
    </Panel>
  );
}
