// Minutes of bounded series with a known end, twelve shapes of them: fills that are straight, noisy, in steps, with a cycle, accelerating or
// with bursts, a drain, and shapes that never fill. Seeded; the truth is the first minute at which the noiseless series reaches its limit.
import { generator } from "./generator.ts";

export const SHAPES = [
  "linear",
  "linear_noisy",
  "season_plus_trend",
  "steps",
  "accelerating",
  "flat",
  "flat_high",
  "sawtooth",
  "slow",
  "drain",
  "recovering",
  "bursty_linear",
] as const;

export type Shape = (typeof SHAPES)[number];

export interface ShapedSeries {
  readonly shape: Shape;
  readonly kind: "fill" | "drain";
  readonly values: readonly number[];
  /** Minutes from the last value to the limit; null for none within 24 hours. */
  readonly etaMinutes: number | null;
}

const MINUTES = 780;
const FUTURE = 1500;

export function shapedSeries(shape: Shape, seed: number): ShapedSeries {
  const random = generator(seed);
  const between = (low: number, high: number): number => low + (high - low) * random.uniform();
  const whole = (low: number, high: number): number => Math.floor(between(low, high));
  const eta = Math.exp(between(Math.log(15), Math.log(1300)));
  const start = between(25, 60);
  const at = MINUTES - 1 + eta;
  const slope = (100 - start) / at;
  let noise = between(0.1, 0.6);
  let model = (t: number): number => start + slope * t;
  let burst = (): number => 0;
  if (shape === "linear_noisy") noise = between(1, 2.5);
  if (shape === "season_plus_trend") {
    const phase = between(0, 6);
    model = (t) => start + slope * t + 2.5 * Math.sin((2 * Math.PI * t) / 240 + phase);
  }
  if (shape === "steps") {
    const width = whole(20, 50);
    model = (t) => start + slope * width * Math.floor(t / width);
  }
  if (shape === "accelerating") model = (t) => start + (100 - start) * (t / at) ** 2;
  if (shape === "flat" || shape === "flat_high") {
    const level = shape === "flat" ? between(30, 70) : between(86, 94);
    noise = between(0.3, 1.5);
    model = () => level;
  }
  if (shape === "sawtooth") {
    const period = whole(60, 200);
    model = (t) => 30 + (40 * (t % period)) / period;
  }
  if (shape === "slow") {
    const end = MINUTES - 1 + between(3000, 9000);
    model = (t) => start + ((100 - start) * t) / end;
  }
  if (shape === "recovering") {
    const drop = MINUTES - whole(60, 200);
    model = (t) => (t < drop ? 40 + (50 * t) / drop : 60);
  }
  if (shape === "bursty_linear") burst = () => (random.uniform() < 0.03 ? 4 : 0);
  const kind = shape === "drain" ? "drain" : "fill";
  const values: number[] = [];
  for (let t = 0; t < MINUTES; t++) {
    const value = model(t) + burst() + noise * random.normal();
    values.push(Math.min(100, Math.max(0, kind === "drain" ? 100 - value : value)));
  }
  return { shape, kind, values, etaMinutes: etaOf(model) };
}

function etaOf(model: (t: number) => number): number | null {
  for (let t = MINUTES - 1; t < MINUTES + FUTURE; t++) {
    if (model(t) >= 100) return t - (MINUTES - 1) <= 1440 ? t - (MINUTES - 1) : null;
  }
  return null;
}
