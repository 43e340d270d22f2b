// How a person works a page: with the mouse, or with keys alone. Both count what they do.
import type { Locator, Page } from "playwright-core";

export interface Hand {
  readonly name: string;
  /** Presses of buttons and links so far. */
  readonly presses: number;
  /** Texts that were written so far. */
  readonly texts: number;
  press(target: Locator): Promise<void>;
  /** Writes into a field, in place of what was there. */
  write(target: Locator, text: string): Promise<void>;
  /** Chooses by the text of an option. */
  choose(target: Locator, option: string): Promise<void>;
}

/** Elements that Tab is tried on before one counts as out of reach. */
const TABS_MAX = 400;

export class Mouse implements Hand {
  readonly name = "mouse";
  presses = 0;
  texts = 0;

  async press(target: Locator): Promise<void> {
    this.presses++;
    await target.click();
  }

  async write(target: Locator, text: string): Promise<void> {
    this.texts++;
    await target.click();
    await target.fill(text);
  }

  async choose(target: Locator, option: string): Promise<void> {
    await target.selectOption({ label: option });
  }
}

/** Tab until it is reached, Enter; nothing is clicked or focused by a script. */
export class Keys implements Hand {
  readonly name = "keys";
  presses = 0;
  texts = 0;
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async press(target: Locator): Promise<void> {
    this.presses++;
    await this.#reach(target);
    await this.#page.keyboard.press("Enter");
  }

  async write(target: Locator, text: string): Promise<void> {
    this.texts++;
    await this.#reach(target);
    await this.#page.keyboard.press("Control+A");
    await this.#page.keyboard.insertText(text);
  }

  async choose(target: Locator, option: string): Promise<void> {
    await this.#reach(target);
    await this.#page.keyboard.type(option);
  }

  async #reach(target: Locator): Promise<void> {
    await target.waitFor();
    await target.evaluate((element) => {
      const own = globalThis as unknown as { wanted: unknown };
      own.wanted = element;
    });
    for (let tabs = 0; tabs < TABS_MAX; tabs++) {
      // A button that is busy or disabled takes no focus yet.
      if (await this.#page.evaluate("document.activeElement === globalThis.wanted")) return;
      await this.#page.keyboard.press("Tab");
    }
    throw new Error(`${target} is not reached by Tab`);
  }
}
