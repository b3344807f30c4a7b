// A histogram whose bars come apart: pieces that stand in their bins, and at their goals once they have moved.

import { node } from "./cells.js";
import { measure, widest } from "./text.js";

const BAR_PARTS = 10000; // of the plot's width and height
const TICK = 5;

// Room around the plot, for the counts at the left and the values below.
export function gutter(bars, em) {
  return { left: Math.ceil(widest(bars.up.map(([, text]) => text)) * 14 * em + 10 * em), below: (bars.title ? 44 : 24) * em, above: 8 * em };
}

// Draws the axes of a placed lane and returns its pieces, one a cell.
export function pieces(parent, place) {
  const { lane, em } = place;
  const { bars } = lane;
  const room = gutter(bars, em);
  const plot = { x: place.x + room.left, y: place.y + room.above, w: place.w - room.left, h: place.h - room.above - room.below };
  ground(parent, bars, plot, em);
  const outline = node("g", { class: "outline" }, parent);
  for (let i = 0; i < bars.outline.length; i += 4) node("rect", rect(bars.outline, i, plot), outline);
  return Array.from({ length: lane.count }, (_, i) => new Piece(parent, rect(bars.before, 4 * i, plot), rect(bars.after, 4 * i, plot)));
}

// The box that starts at `i` of a flat list, in pixels; never thinner than a hair.
function rect(list, i, { x, y, w, h }) {
  const [left, bottom, wide, high] = [0, 1, 2, 3].map((k) => list[i + k] / BAR_PARTS);
  const tall = Math.max(high * h, 0.75);
  return { x: (x + left * w).toFixed(2), y: (y + (1 - bottom) * h - tall).toFixed(2), width: Math.max(wide * w - 0.5, 1).toFixed(2), height: tall.toFixed(2) };
}

function ground(parent, bars, { x, y, w, h }, em) {
  const g = node("g", { class: "axes" }, parent);
  const across = (at) => (x + (at / BAR_PARTS) * w).toFixed(2);
  for (const [at, text] of bars.up) {
    const height = y + (1 - at / BAR_PARTS) * h;
    node("path", { class: at ? "rule" : "base", d: `M${x} ${height}h${w}` }, g);
    node("text", { class: "tick up", x: x - 6 * em, y: height }, g, text);
  }
  const marks = Array.from(bars.points, (at) => `M${across(at)} ${y + h}v${TICK}`).join("");
  if (marks) node("path", { class: "marks", d: marks }, g);
  let end = -Infinity;
  for (const [at, text] of bars.across) {
    const half = (measure(text) * 14 * em) / 2;
    const middle = Math.min(Math.max(Number(across(at)), x + half), x + w - half);
    if (middle - half < end) continue;
    end = middle + half + 6 * em;
    node("text", { class: "tick", x: middle, y: y + h + 15 * em }, g, text);
  }
  if (bars.title) node("text", { class: "tick", x: x + w / 2, y: y + h + 34 * em }, g, bars.title);
}

// One piece, with what the figure asks of any drawn cell.
class Piece {
  constructor(parent, before, after) {
    Object.assign(this, { before, after, said: "" });
    this.g = node("rect", { class: "piece", ...before }, parent);
    this.roomy = before.width > 4 && Math.min(before.height, after.height) > 3; // for an outline
  }

  draw(now) {
    const said = `${now.moved} ${now.hue} ${now.cursor}`;
    if (said === this.said) return;
    this.said = said;
    this.g.setAttribute("class", `piece h${now.hue}${now.cursor && this.roomy ? " now" : ""}`);
    for (const [key, value] of Object.entries(now.moved ? this.after : this.before)) this.g.setAttribute(key, value);
  }

  ring(name, on) {
    this.g.classList.toggle(name, on);
  }
}
