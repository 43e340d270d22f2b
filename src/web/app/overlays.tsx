// What lies over the page: the palette that finds pages and services, and the list of keys.
import { useEffect, useState } from "preact/hooks";
import { call } from "../client/client.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon, type IconName } from "../state/icons.tsx";
import { link } from "../state/route.ts";
import type { Series } from "../view/shapes.ts";
import { isHelpOpen, isPaletteOpen, JUMPS } from "./keyboard.ts";
import { PAGES } from "./map.ts";

export function Overlays() {
  return (
    <>
      {isPaletteOpen.value && <Palette />}
      {isHelpOpen.value && <Help />}
    </>
  );
}

interface Hit {
  readonly label: string;
  readonly hint: string;
  readonly icon: IconName;
  readonly href: string;
}

const HITS_MAX = 12;

function Palette() {
  const [text, setText] = useState("");
  const [found, setFound] = useState<readonly Hit[]>([]);
  const [at, setAt] = useState(0);
  useEffect(() => {
    if (text.trim() === "") return setFound([]);
    const control = new AbortController();
    const timer = setTimeout(() => void searchNames(text.trim(), control.signal).then(setFound, () => setFound([])), 120);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [text]);
  const typed = text.trim().toLowerCase();
  const pages = PAGES.filter(({ group, title }) => group !== undefined && title.toLowerCase().includes(typed)).map(
    ({ path, title, icon, group }) => ({
      label: title,
      hint: group ?? "",
      icon,
      href: link([path]),
    }),
  );
  const hits = [...pages.slice(0, typed === "" ? HITS_MAX : 5), ...found].slice(0, HITS_MAX);
  const chosen = Math.min(at, hits.length - 1);
  const close = () => {
    isPaletteOpen.value = false;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(hits.length - 1, chosen + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, chosen - 1));
    else if (event.key === "Enter" && hits[chosen] !== undefined) {
      location.hash = hits[chosen].href.slice(1);
      close();
    } else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find" onClose={close}>
      <input
        class="palette-input"
        type="search"
        aria-label="Find a page, service or metric"
        aria-controls="palette-hits"
        placeholder="A page, service or metric"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <ul id="palette-hits" class="palette-hits">
        {hits.map((hit, index) => (
          <li key={hit.href + hit.label}>
            <a href={hit.href} class={index === chosen ? "chosen" : ""} onClick={close}>
              <Icon name={hit.icon} />
              <bdi>{hit.label}</bdi>
              <span class="faint">{hit.hint}</span>
            </a>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

async function searchNames(q: string, signal: AbortSignal): Promise<Hit[]> {
  const [services, series] = await Promise.all([
    call<{ services: Array<{ service_id: string; environment: string }> }>("GET /api/v1/services", { query: { q, limit: 8 }, signal }),
    call<{ series: Series[] }>("GET /api/v1/series", { query: { q, limit: 8 }, signal }),
  ]);
  return [
    ...services.services.map(({ service_id, environment }) => ({
      label: service_id,
      hint: `service ${environment}`,
      icon: "box" as const,
      href: link(["service", service_id], { environment }),
    })),
    ...series.series.map(({ service_id, metric_name, environment }) => ({
      label: metric_name,
      hint: `of ${service_id} ${environment}`,
      icon: "trend" as const,
      href: link(["service", service_id], { environment, metric: metric_name }),
    })),
  ];
}

const KEYS = [
  ["/ or Ctrl K", "find a page, service or metric"],
  ["j  k", "next and previous row"],
  ["Enter", "open the row"],
  ["a  u", "acknowledge, hand back"],
  ["r  l", "resolve, take as the new level"],
  ["z  c  o", "snooze, comment, assign"],
  ["s", "silence"],
  ["x", "choose the row"],
  ["?", "these keys"],
] as const;

function Help() {
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        {Object.entries(JUMPS).map(([key, { label }]) => (
          <div key={key}>
            <dt>
              <kbd>g {key}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
