// Small parts that all pages share.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Answer, isSignedOut } from "../client/answers.ts";
import type { ApiError } from "../client/client.ts";
import { Icon, type IconName } from "../state/icons.tsx";
import { notify } from "../state/notices.tsx";
import { now, zone } from "../state/route.ts";
import type { Severity } from "../view/shapes.ts";
import { ageText, fullTime, offsetText, shortTime } from "../view/time-text.ts";

const SHAPES: Readonly<Record<Severity, string>> = {
  high: "M6 1l5 9H1z",
  medium: "M6 1l5 5-5 5-5-5z",
  low: "M6 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
};

/** A severity by shape, word and colour. */
export function SeverityMark({ severity, isBare = false }: { severity: Severity; isBare?: boolean }) {
  return (
    <span class={`severity ${severity}`}>
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
        <path d={SHAPES[severity]} />
      </svg>
      <span class={isBare ? "unseen" : ""}>{severity}</span>
    </span>
  );
}

/** A name from telemetry: text, whose direction is its own. */
export function Name({ text, class: extra = "" }: { text: string; class?: string }) {
  return (
    <bdi class={`name ${extra}`} title={text.length > 32 ? text : undefined}>
      {text === "" ? "–" : text}
    </bdi>
  );
}

/** A moment, with its age and the whole of it where one points. */
export function When({ at, ago = false }: { at: string | number | null | undefined; ago?: boolean }) {
  if (at === null || at === undefined || at === "") return <span class="faint">–</span>;
  const ms = typeof at === "number" ? at : Date.parse(at);
  const iso = new Date(ms).toISOString();
  return (
    <time dateTime={iso} title={`${fullTime(ms, zone.value)} ${offsetText(ms, zone.value)} (${ageText(now.value - ms)} ago)`}>
      {ago ? `${ageText(now.value - ms)} ago` : shortTime(ms, now.value, zone.value)}
    </time>
  );
}

export function Tag({ children, tone = "" }: { children: ComponentChildren; tone?: string }) {
  return <span class={`tag ${tone}`}>{children}</span>;
}

interface ButtonProps {
  readonly children?: ComponentChildren;
  /** Action of the press; a promise keeps the button busy. */
  readonly onClick: () => unknown;
  readonly icon?: IconName;
  readonly label?: string;
  readonly tone?: "main" | "plain" | "danger" | "quiet";
  readonly keyHint?: string;
  readonly disabled?: boolean;
  readonly pressed?: boolean;
}

/** A button that is busy while its work goes on, and says so where it failed. */
export function Button({ children, onClick, icon, label, tone = "plain", keyHint, disabled = false, pressed }: ButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const press = async () => {
    setBusy(true);
    try {
      await onClick();
    } catch (error) {
      notify("bad", (error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      class={`button ${tone} ${children === undefined ? "square" : ""}`}
      onClick={() => void press()}
      disabled={isBusy || disabled}
      aria-label={children === undefined ? label : undefined}
      title={label}
      data-key={keyHint}
      aria-pressed={pressed}
      aria-busy={isBusy}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A page's head: what it is, and what can be done. */
export function Head({ title, about, children }: { title: ComponentChildren; about?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <header class="head">
      <div class="head-text">
        <h1>{title}</h1>
        {about !== undefined && <p class="about">{about}</p>}
      </div>
      {children !== undefined && <div class="tools">{children}</div>}
    </header>
  );
}

export function Panel({
  title,
  children,
  aside,
  id,
}: {
  title?: ComponentChildren;
  children: ComponentChildren;
  aside?: ComponentChildren;
  id?: string;
}) {
  return (
    <section class="panel" id={id}>
      {(title !== undefined || aside !== undefined) && (
        <div class="panel-head">
          <h2>{title}</h2>
          {aside !== undefined && <div class="tools">{aside}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

/** Nothing to show, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div>{children}</div>}
    </div>
  );
}

/** Placeholder for what takes longer than a blink. */
export function Skeleton({ rows = 5 }: { rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return <div class="skeleton" aria-busy="true" />;
  return (
    <div class="skeleton" role="status" aria-label="loading">
      {Array.from({ length: rows }, (_, row) => (
        <div class="bone" key={row} style={{ width: `${92 - ((row * 17) % 35)}%` }} />
      ))}
    </div>
  );
}

/** Error in the server's words, and the way on. */
export function Failure({ error, reload }: { error: ApiError; reload?: (() => void) | undefined }) {
  if (error.code === "not_built")
    return (
      <Empty title="Not built yet">
        <p>{error.message}.</p>
      </Empty>
    );
  const isForbidden = error.status === 403;
  const title = isForbidden
    ? "You may not see this"
    : error.status === 404
      ? "Not found"
      : error.status === 401
        ? "Sign in first"
        : "This did not work";
  return (
    <div class={`failure ${isForbidden ? "mild" : ""}`} role="alert">
      <p class="empty-title">{title}</p>
      <p>{error.message}</p>
      <div class="tools">
        {reload !== undefined && !isForbidden && (
          <Button onClick={reload} tone="plain">
            Try again
          </Button>
        )}
        {(isForbidden || error.status === 401) && (
          <Button
            onClick={() => {
              isSignedOut.value = true;
            }}
            tone="main"
            icon="key"
          >
            Sign in
          </Button>
        )}
        {error.requestId !== null && <span class="faint">request {error.requestId}</span>}
      </div>
    </div>
  );
}

/** Shows an answer in all its states; what came before stays in sight while the server is away. */
export function Shown<T>({ of, children, rows = 5 }: { of: Answer<T>; children: (data: T) => ComponentChildren; rows?: number }) {
  const { data, error, isLoading, atMs, waitSeconds, reload } = of;
  if (data === undefined) {
    if (error !== undefined) return <Failure error={error} reload={reload} />;
    if (!isLoading) return null;
    return (
      <>
        {waitSeconds > 0 && <p class="note">The server is busy and asks to wait {waitSeconds} s.</p>}
        <Skeleton rows={rows} />
      </>
    );
  }
  return (
    <>
      {error !== undefined && (
        <p class="note stale" role="status">
          {error.message}. This is what was known {ageText(now.value - atMs)} ago.
        </p>
      )}
      {children(data)}
    </>
  );
}

/** Copies a text; where the browser lends no clipboard, by a selection. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) await navigator.clipboard.writeText(text);
  else {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  notify("good", "Copied");
}

export function CopyButton({ text, label = "Copy" }: { text: string | (() => string); label?: string }) {
  return (
    <Button icon="copy" tone="quiet" label={label} onClick={() => copyText(typeof text === "string" ? text : text())}>
      {label}
    </Button>
  );
}

/** "12 new": what came since, shown when the reader asks for it. */
export function FreshButton({ count, onShow }: { count: number; onShow: () => void }) {
  if (count === 0) return null;
  return (
    <div class="fresh">
      <Button tone="main" icon="up" onClick={onShow}>
        {count} new
      </Button>
    </div>
  );
}

/** Something that the server tells once. */
export function Secret({ text, onDone }: { text: string; onDone: () => void }) {
  return (
    <div class="note warn stack" role="status">
      <strong>This is shown once. Keep it now.</strong>
      <pre>{text}</pre>
      <div class="tools">
        <CopyButton text={text} />
        <Button onClick={onDone}>I have it</Button>
      </div>
    </div>
  );
}
