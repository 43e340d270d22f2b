// A picture of few colours, a byte a dot: lines, areas and the signs of axes. What lies outside of it is not drawn.
import { SIGN, signRows, textWidth } from "./digits.ts";

/** A colour, as its place in the picture's list of colours. */
export type Colour = number;

/** Dots of a picture. */
export class Raster {
  readonly width: number;
  readonly height: number;
  /** Rows from the top, each from the left. */
  readonly dots: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.dots = new Uint8Array(width * height);
  }

  dot(x: number, y: number, colour: Colour): void {
    if (x >= 0 && y >= 0 && x < this.width && y < this.height) this.dots[y * this.width + x] = colour;
  }

  /** Dots of a column from `top` to `bottom`, both of them too; `every` leaves out all but each so-many-th. */
  column(x: number, top: number, bottom: number, colour: Colour, every = 1): void {
    const last = Math.min(this.height - 1, bottom);
    for (let y = Math.max(0, top); y <= last; y++) if (y % every === 0) this.dot(x, y, colour);
  }

  row(y: number, left: number, right: number, colour: Colour): void {
    const last = Math.min(this.width - 1, right);
    for (let x = Math.max(0, left); x <= last; x++) this.dot(x, y, colour);
  }

  /** A line two dots high (Bresenham 1965). */
  line(fromX: number, fromY: number, toX: number, toY: number, colour: Colour): void {
    const [dx, dy] = [Math.abs(toX - fromX), -Math.abs(toY - fromY)];
    const [stepX, stepY] = [fromX < toX ? 1 : -1, fromY < toY ? 1 : -1];
    let [x, y, error] = [fromX, fromY, dx + dy];
    for (;;) {
      this.dot(x, y, colour);
      this.dot(x, y + 1, colour);
      if (x === toX && y === toY) return;
      const twice = 2 * error;
      if (twice >= dy) {
        error += dy;
        x += stepX;
      }
      if (twice <= dx) {
        error += dx;
        y += stepY;
      }
    }
  }

  /** A triangle that stands on its base, its tip at the place. */
  triangle(x: number, y: number, height: number, colour: Colour): void {
    for (let down = 0; down < height; down++) this.row(y + down, x - (down >> 1), x + (down >> 1), colour);
  }

  /** A text whose upper left corner, or upper right one, is at the place. */
  text(x: number, y: number, text: string, colour: Colour, side: "left" | "right" = "left"): void {
    let left = side === "left" ? x : x - textWidth(text);
    for (const sign of text) {
      for (const [down, bits] of signRows(sign).entries()) {
        for (let at = 0; at < SIGN.width; at++) if ((bits >> (SIGN.width - 1 - at)) & 1) this.dot(left + at, y + down, colour);
      }
      left += SIGN.width + SIGN.gap;
    }
  }
}
