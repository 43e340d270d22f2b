// The frame around every page: navigation, what holds everywhere (search, time zone, live stream, theme), and the page itself.
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isSignedOut } from "../client/answers.ts";
import { ApiError } from "../client/client.ts";
import { isPaused, streamState } from "../live/stream.ts";
import { Button, Failure, Skeleton } from "../parts/basics.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../state/icons.tsx";
import { Notices } from "../state/notices.tsx";
import { link, now, route, setTheme, setZone, theme, zone, zoneChoices } from "../state/route.ts";
import { setTitle } from "../state/title.ts";
import { isZone, offsetText } from "../view/time-text.ts";
import { isHelpOpen, isPaletteOpen } from "./keyboard.ts";
import { GROUPS, PAGES, type PageEntry, pageOf } from "./map.ts";
import { Overlays } from "./overlays.tsx";
import { SignInPanel } from "./sign-in-panel.tsx";

/** The whole interface. */
export function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const current = pageOf(route.value.path);
  useEffect(() => setMenuOpen(false), [route.value.path[0]]);
  return (
    <div class="shell">
      <button type="button" class="skip button" onClick={skip}>
        Skip to the page
      </button>
      <Bar onMenu={() => setMenuOpen(!isMenuOpen)} isMenuOpen={isMenuOpen} />
      <Navigation current={current} isOpen={isMenuOpen} />
      <main id="main" tabIndex={-1}>
        {isSignedOut.value && <SignInPanel />}
        {current === undefined ? (
          <Failure error={new ApiError(404, "not_found", "There is no such page; the navigation lists all.")} />
        ) : (
          <PageFrame entry={current} key={current.path} />
        )}
      </main>
      <Notices />
      <Overlays />
    </div>
  );
}

function skip(): void {
  document.getElementById("main")?.focus();
}

function Navigation({ current, isOpen }: { current: PageEntry | undefined; isOpen: boolean }) {
  return (
    <nav class={`navigation ${isOpen ? "open" : ""}`} aria-label="Pages">
      {GROUPS.map((group) => (
        <div class="nav-group" key={group}>
          <h2>{group}</h2>
          <ul>
            {PAGES.filter((page) => page.group === group).map((page) => (
              <li key={page.path}>
                <a href={link([page.path])} aria-current={current?.path === page.path ? "page" : undefined}>
                  <Icon name={page.icon} />
                  <span>{page.title}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function Bar({ onMenu, isMenuOpen }: { onMenu: () => void; isMenuOpen: boolean }) {
  return (
    <header class="bar">
      <button type="button" class="button quiet square menu" aria-label="Pages" aria-expanded={isMenuOpen} onClick={onMenu}>
        <Icon name="menu" />
      </button>
      <a class="brand" href={link(["now"])}>
        <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
          <path d="M3 19h7l3 4 5-15 3 11h8" />
        </svg>
        Vedette
      </a>
      <button
        type="button"
        class="search"
        onClick={() => {
          isPaletteOpen.value = true;
        }}
      >
        <Icon name="search" />
        <span>Find a page, service or metric</span>
        <kbd>/</kbd>
      </button>
      <div class="bar-tools">
        <LiveSwitch />
        <ZoneSwitch />
        <ThemeSwitch />
        <button
          type="button"
          class="button quiet square"
          aria-label="Keys"
          title="Keys"
          onClick={() => {
            isHelpOpen.value = true;
          }}
        >
          ?
        </button>
      </div>
    </header>
  );
}

function LiveSwitch() {
  const text = isPaused.value
    ? "Paused"
    : streamState.value === "live"
      ? "Live"
      : streamState.value === "connecting"
        ? "Connecting"
        : "Offline";
  const tone = isPaused.value ? "paused" : streamState.value;
  return (
    <button
      type="button"
      class={`live ${tone}`}
      onClick={() => {
        isPaused.value = !isPaused.value;
      }}
      aria-pressed={isPaused.value}
      title={isPaused.value ? "Show what comes again" : "Hold what comes back"}
    >
      <span class="dot" aria-hidden="true" />
      <span>{text}</span>
      <Icon name={isPaused.value ? "play" : "pause"} size={12} />
    </button>
  );
}

function ZoneSwitch() {
  const [isAsking, setAsking] = useState(false);
  const choices = zoneChoices.some(({ value }) => value === zone.value)
    ? zoneChoices
    : [...zoneChoices, { label: zone.value, value: zone.value }];
  const choose = (value: string) => {
    if (value === "other") setAsking(true);
    else setZone(value);
  };
  if (isAsking) return <ZoneField onClose={() => setAsking(false)} />;
  return (
    <label class="zone" title="Time zone of all times">
      <span class="unseen">Time zone</span>
      <select value={zone.value} onChange={(event) => choose(event.currentTarget.value)}>
        {choices.map(({ label, value }) => (
          <option value={value} key={value}>
            {label}
          </option>
        ))}
        <option value="other">Another …</option>
      </select>
      <span class="faint offset">{offsetText(now.value, zone.value)}</span>
    </label>
  );
}

/** Another zone by its name, of those that the browser knows. */
function ZoneField({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const save = () => {
    if (text.trim() !== "") setZone(text.trim());
    onClose();
  };
  return (
    <Dialog title="Time zone" onClose={onClose}>
      <label class="field">
        <span>Name, such as Asia/Tokyo</span>
        <input list="zones" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <datalist id="zones">
        {Intl.supportedValuesOf("timeZone").map((name) => (
          <option value={name} key={name} />
        ))}
      </datalist>
      <div class="tools">
        <Button tone="main" onClick={save} disabled={!isZone(text.trim())}>
          Show times in it
        </Button>
      </div>
    </Dialog>
  );
}

function ThemeSwitch() {
  const next = theme.value === "system" ? "dark" : theme.value === "dark" ? "light" : "system";
  return (
    <Button
      tone="quiet"
      icon={theme.value === "dark" ? "moon" : "sun"}
      label={`Theme: ${theme.value}; press for ${next}`}
      onClick={() => setTheme(next)}
    />
  );
}

/** Fetches the page's script, then shows it. */
function PageFrame({ entry }: { entry: PageEntry }) {
  const [Page, setPage] = useState<{ component: FunctionComponent<{ rest: readonly string[] }> }>();
  const [error, setError] = useState<ApiError>();
  const load = () => {
    setError(undefined);
    entry.load().then(
      (component) => setPage({ component }),
      () => setError(new ApiError(0, "offline", "the page's script did not come; the server may have been renewed: load the page again")),
    );
  };
  useEffect(load, []);
  useEffect(() => {
    setTitle(entry.title);
  }, [entry]);
  if (error !== undefined) return <Failure error={error} reload={load} />;
  if (Page === undefined) return <Skeleton />;
  return <Page.component rest={route.value.path.slice(1)} key={route.value.path.join("/")} />;
}
