// Title of the tab: what is looked at, so that tabs and bookmarks can be told apart.

/** Names the tab. */
export function setTitle(...parts: readonly string[]): void {
  document.title = [...parts.filter((part) => part !== ""), "Vedette"].join(" · ");
}
