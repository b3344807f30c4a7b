// The number series: small charts with a dot at the step.

import { node } from "./cells.js";
import { cut, widest } from "./text.js";

// The lowest and highest number drawn, over all series that share a scale; zero is on it unless the scale is a logarithm.
function range(film, one) {
  let [low, high] = one.places === null ? [Infinity, -Infinity] : [0, 0];
  for (const other of film.series) {
    if (other !== one && !(one.share && other.share === one.share)) continue;
    for (const value of other.line) {
      if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
  }
  return low < high ? [low, high] : [Math.min(low, 0), Math.max(high, low + 1, 1)];
}

// The line as path data; where many steps share a pixel, its extremes there.
function path(line, x, y) {
  const every = Math.max(1, Math.ceil(line.length / 600));
  let out = "";
  let pen = "M";
  for (let start = 0; start < line.length; start += every) {
    const run = line.subarray(start, start + every);
    const [low, high] = extremes(run);
    if (low === null) {
      pen = "M";
      continue;
    }
    const at = x(start).toFixed(1);
    out += `${pen}${at} ${y(low).toFixed(1)}${high > low ? `V${y(high).toFixed(1)}` : ""}`;
    pen = "L";
  }
  return out;
}

function extremes(run) {
  let [low, high] = [null, null];
  for (const value of run) {
    if (!Number.isFinite(value)) continue;
    if (low === null || value < low) low = value;
    if (high === null || value > high) high = value;
  }
  return [low, high];
}

// About the width of a series' longest number, in units of the type size.
export const breadth = (film, one) => 1.1 * widest([0, film.steps >> 1, film.steps - 1].map((step) => film.shown(one, step)));

// A small figure over time. `place.left` and `place.span` say where its time runs, else it takes the whole width.
export class Timed {
  constructor(parent, film, place) {
    const { x, y, w, text, h, left = 0, span = w } = place;
    Object.assign(this, { film, place, left, span });
    this.x = (step) => (film.steps > 1 ? 4 + (step / (film.steps - 1)) * (span - 8) : span / 2);
    this.g = node("g", { class: "chart", transform: `translate(${x} ${y})` }, parent);
    this.ground = node("rect", { class: "touch", x: left + 4, y: 0, width: span - 8, height: text + h }, this.g);
  }

  plot() {
    return node("g", { transform: `translate(${this.left} ${this.place.text})` }, this.g);
  }

  // The step at a place on the screen, or null beside the figure.
  stepAt({ clientX, clientY }) {
    const { left, right, top, bottom } = this.ground.getBoundingClientRect();
    if (clientX < left - 4 || clientX > right + 4 || clientY < top || clientY > bottom) return null;
    const share = Math.min(1, Math.max(0, (clientX - left) / (right - left)));
    return Math.round(share * (this.film.steps - 1));
  }
}

// One series: name and value above, the whole line faint, its past strong, a dot at the step.
export class Chart extends Timed {
  constructor(parent, film, one, place) {
    super(parent, film, place);
    this.one = one;
    const { w, h, em } = place;
    const { left, span } = this;
    const [low, high] = range(film, one);
    this.y = (value) => 3 + (h - 6) * (1 - (value - low) / (high - low));
    const longest = breadth(film, one);
    const room = left ? (left - 8) / (14 * em) : (w - 20) / (14 * em) - longest;
    node("text", { class: "name", x: 4, y: 11 * em }, this.g, cut(one.label, room));
    this.value = node("text", { class: "value", x: w - 4, y: 11 * em }, this.g);
    const plot = this.plot();
    node("path", { class: "ground", d: `M4 ${h - 1}H${span - 4}` }, plot);
    const d = path(one.line, this.x, this.y);
    node("path", { class: "ahead", d }, plot);
    this.past = node("svg", { width: 0, height: h + 2, class: "fill" }, plot);
    node("path", { class: "past", d }, this.past);
    this.dot = node("circle", { class: "dot", r: 4 }, plot);
  }

  draw(step) {
    const value = this.one.line[step];
    const x = this.x(step);
    this.value.textContent = this.film.shown(this.one, step);
    this.past.setAttribute("width", x);
    this.dot.style.display = Number.isFinite(value) ? "" : "none";
    if (Number.isFinite(value)) {
      this.dot.setAttribute("cx", x);
      this.dot.setAttribute("cy", this.y(value));
    }
  }
}
