// Channels: whether people can be told at all, how each fares, and a test of one or of a rule's.
import { useState } from "preact/hooks";
import { useAnswer } from "../client/answers.ts";
import { call } from "../client/client.ts";
import { link } from "../state/route.ts";
import type { ChannelList, ChannelTest, Status } from "../view/shapes.ts";
import { Empty, Name, Panel, Shown, Tag, When } from "./basics.tsx";
import { ConfirmButton } from "./confirm-button.tsx";
import { NotifiedState } from "./notified-state.tsx";
import { Table } from "./table.tsx";

/** Over the first page while nobody can be told, or a channel takes nothing. */
export function ChannelBanner({ status }: { status: Status | undefined }) {
  if (status === undefined) return null;
  const { configured, failing } = status.notifier;
  if (configured && failing.length === 0) return null;
  return (
    <p class="note bad" role="alert">
      <strong>{configured ? "A channel fails:" : "Nobody can be notified: no channel is configured."}</strong>{" "}
      {failing.map(({ channel, since, error }) => (
        <span key={channel}>
          {channel} since <When at={since} /> {error !== null && `(${error})`}{" "}
        </span>
      ))}
      <a href={link(["routing"])}>{configured ? "Look at channels" : "What is missing"}</a>
    </p>
  );
}

const TONES = { ok: "good", failing: "high", untried: "", nowhere: "medium" } as const;
const STATE_TEXTS = { ok: "works", failing: "fails", untried: "not tried yet", nowhere: "not configured" } as const;
type Channel = ChannelList["channels"][number];

/** All that rules name or that are configured, each with its last success and a test. */
export function Channels() {
  const answer = useAnswer<ChannelList>("GET /api/v1/routing/channels", {}, 15_000);
  const [tested, setTested] = useState<ChannelTest>();
  return (
    <Panel title="Channels">
      {tested !== undefined && <Outcome of={tested} />}
      <Shown of={answer} rows={3}>
        {({ channels }) =>
          channels.length === 0 ? (
            <Empty title="No channel is configured: nobody can be notified">
              Channels are settings of the server, such as <code>CHAT_WEBHOOK_URL</code>, <code>PAGER_ROUTING_KEY</code> and{" "}
              <code>SMTP_URL</code>.
            </Empty>
          ) : (
            <Table label="Channels" rows={channels} keyOf={({ channel }) => channel} columns={columnsWith(setTested)} />
          )
        }
      </Shown>
    </Panel>
  );
}

function columnsWith(onTested: (tested: ChannelTest) => void) {
  return [
    { head: "Channel", show: ({ channel }: Channel) => <Name text={channel} /> },
    { head: "State", isTight: true, show: ({ state }: Channel) => <Tag tone={TONES[state]}>{STATE_TEXTS[state]}</Tag> },
    { head: "Last success", isTight: true, show: ({ last_success_at }: Channel) => <When at={last_success_at} /> },
    { head: "Error", show: ({ error }: Channel) => <span class="soft">{error ?? ""}</span> },
    { head: "", show: ({ channel }: Channel) => <ChannelTestButton of={{ channel }} onTested={onTested} /> },
  ];
}

/** Sends a message that says it is a drill, after a question. */
export function ChannelTestButton({
  of,
  onTested,
}: {
  of: { channel: string } | { rule_id: string };
  onTested: (tested: ChannelTest) => void;
}) {
  const work = async () => onTested(await call<ChannelTest>("POST /api/v1/routing/channels/test", { body: of }));
  return (
    <ConfirmButton question="It notifies people: send it?" done="The test has ended" work={work}>
      Test
    </ConfirmButton>
  );
}

/** Who was told by a test. */
export function Outcome({ of: { results } }: { of: ChannelTest }) {
  return (
    <div class="note stack" role="status">
      {results.map(({ channel, ...result }) => (
        <span class="row" key={channel}>
          <Name text={channel} /> <NotifiedState of={{ ...result, channel: null }} />
        </span>
      ))}
    </div>
  );
}
