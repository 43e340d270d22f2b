import { expect, it } from "vitest";
// @ts-expect-error: the checks are JavaScript without declarations
import { isRounded, quoteFaults } from "../../../scripts/bench-quotes.mjs";

const newer =
  "## disk\n\n|  | median (min-max) | unit |\n| Vedette, idle | 4.28 (4.27-4.31) | bytes a sample | log 0.001, control 1.24; at rest |\n";
const older = "## disk\n\n| Vedette, idle | 3.00 | bytes a sample |  |\n\n## auth-cost\n\n| Vedette | 19.2 (18-20) | us |  |\n";
const faults = (text: string) => quoteFaults(text, [newer, older], new Set(["disk", "auth-cost"])) as string[];

it("a quoted figure is that of the newest page that has its row", () => {
  expect(faults("4.3 bytes<!-- bench disk: Vedette, idle -->, 1.24<!-- bench disk: Vedette, idle: control N; --> of it")).toEqual([]);
  expect(faults("text\n3.0 bytes<!-- bench disk: Vedette, idle -->")).toEqual(["2: 3.0, measured was 4.28 (disk: Vedette, idle)"]);
  expect(faults("cpu=19  # bench auth-cost: Vedette")).toEqual([]);
  expect(faults("7<!-- bench disk: Prometheus -->")).toEqual(["1: no page has disk: Prometheus"]);
});

it("a line that names a row says which figure it quotes", () => {
  expect(faults("| disk of a sample | 3 | row `disk` |")).toEqual(["1: a figure of the row disk without its comment"]);
  expect(faults("| a row `other` |")).toEqual([]);
});

it("a figure may have fewer digits than the page", () => {
  expect([isRounded("2,827", 2827), isRounded(".25", 0.246), isRounded(".24", 0.246)]).toEqual([true, true, false]);
});
