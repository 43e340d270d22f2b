// What lies over the page and is answered first.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../state/icons.tsx";

/** A dialog over the page; the browser keeps the focus inside. It begins at the field with data-first, else at the first field. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  // Before the browser draws: what is typed in the next moment is for the field.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    const fields = "input:not([type=checkbox]), textarea, select";
    dialog?.querySelector<HTMLElement>(dialog.querySelector("[data-first]") === null ? fields : "[data-first]")?.focus();
    // A press beside the dialog closes it, as Escape does.
    dialog?.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  }, []);
  return (
    <dialog ref={element} onClose={onClose} aria-label={title}>
      <div class="dialog-body">
        <header class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="button quiet square" aria-label="Close" onClick={() => element.current?.close()}>
            <Icon name="cross" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
