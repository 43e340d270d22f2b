// Half a dozen of the damages of `make fault`, a dozen in its whole run: each is found, ends in one line, or changes no answer.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PATIENCE_MS } from "../../support/patience.ts";
import { firstOf } from "../../support/test-extent.ts";
import { type DamagedFolders, makeFolders } from "./damaged-folders.ts";
import { judgeDamage } from "./damaged-start.ts";

const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

describe("a damaged data folder", () => {
  let folders: DamagedFolders;
  beforeAll(async () => {
    folders = await makeFolders();
  }, 3 * PATIENCE_MS);
  afterAll(() => folders.close());

  it.each(firstOf(NUMBERS, 6))("is never answered with wrong data: damage %i", async (number) => {
    const { outcome, text } = await judgeDamage(folders, number);
    expect(outcome, text).not.toBe("failed");
  });
});
