// The figure: lanes of cells, legend and series in one SVG, laid out anew whenever the width changes.

import { Cell, STATES, blend, look, node } from "./cells.js";
import { bucketOf, layout, spot } from "./layout.js";
import { Chart } from "./lines.js";

// What the legend explains: named hues, then the states and marks that occur in this trace.
function legend(film) {
  const { header } = film;
  const words = header.player;
  const hues = header.hues.map(([hue, letter, name]) => ({ text: name, look: { state: 2, hue, text: letter } }));
  const plane = (name) => film.planes.find((one) => one.name === name);
  const states = plane("state") ? new Set(plane("state").values) : new Set();
  if (plane("state") && film.seek(0).state.includes(0)) states.add(0);
  const marks = [...states].filter((state) => STATES[state]).sort((a, b) => a - b)
    .map((state) => ({ text: header.words[state] || words.state[STATES[state]], look: { state, hue: 0, text: "" } }));
  if (plane("hashed")) marks.push({ text: words.hashed, look: { state: 2, hue: 0, text: "", hashed: 1 } });
  if (plane("fill")) marks.push({ text: words.partial, look: { state: 2, hue: 0, text: "", part: 0.6 } });
  return [...hues, ...marks];
}

export class Figure {
  constructor(svg, film) {
    Object.assign(this, { svg, film, words: film.header.player, legend: legend(film), pointed: null });
    this.letters = ["", ..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
    for (const [hue, letter] of film.header.hues) this.letters[hue] = letter;
    this.whole = film.header.lanes;
    this.zoom = null;
  }

  // Lay everything out for a width; `em` is the reader's type size over 16 px.
  place(width, em) {
    const { svg, film } = this;
    Object.assign(this, { width, em });
    const lanes = this.zoom ? [this.zoom] : this.whole;
    const options = { em, tall: film.header.tall, legend: this.legend };
    this.plan = layout({ ...film.header, lanes }, width, options);
    svg.replaceChildren();
    svg.setAttribute("width", width);
    svg.setAttribute("height", this.plan.height);
    this.views = this.plan.lanes.map((lane) => this.lane(lane));
    const key = node("g", { class: "legend" }, svg);
    for (const item of this.plan.legend) this.swatch(key, item);
    this.charts = film.series.map((one, i) => new Chart(svg, film, one, this.plan.series.rows[i]));
    for (const text of svg.querySelectorAll("[data-size]")) text.style.fontSize = `${text.dataset.size * em}px`;
    this.seen = null;
  }

  lane(place) {
    const g = node("g", { class: "lane" }, this.svg);
    const { lane } = place;
    node("text", { class: "name", x: this.plan.left ? 0 : 2, y: place.labelY }, g, lane.label);
    const view = { place, cells: [] };
    for (let i = 0; i < place.count; i++) {
      const [x, y] = spot(place, i);
      const cell = new Cell(g, x, y, place.w, place.h, place.size, this.em);
      cell.g.dataset.cell = i;
      cell.g.dataset.lane = this.plan.lanes.indexOf(place);
      view.cells.push(cell);
      if (place.under) node("text", { class: "under", x: x + place.w / 2, y: y + place.h + 12 * this.em }, g, lane.under[i]);
    }
    this.names(g, place);
    return view;
  }

  // Names of a grid's rows and columns.
  names(g, place) {
    if (place.run > 1) return;
    if (place.names) {
      place.lane.rowNames.forEach((name, i) => {
        const [x, y] = spot(place, i * place.columns);
        node("text", { class: "row", x: x - 8, y: y + place.h / 2 }, g, name);
      });
    }
    if (place.top) {
      place.lane.columnNames.forEach((name, i) => {
        const [x, y] = spot(place, i);
        node("text", { class: "column", x: x + place.w / 2, y: y - 10 * this.em }, g, name);
      });
    }
  }

  swatch(parent, { text, look: seen, x, y }) {
    const size = 18 * this.em;
    new Cell(parent, x, y, size, size, 18, this.em).draw({ shade: 0, part: 1, ref: 0, hashed: 0, cursor: 0, ...seen });
    node("text", { class: "name", x: x + size + 7 * this.em, y: y + size / 2 }, parent, text);
  }

  // Draw a step: only cells whose planes differ from what is on the screen.
  draw(step) {
    const now = this.film.seek(step);
    for (const view of this.views) {
      for (const i of this.dirty(view, now)) view.cells[i].draw(this.lookOf(view, i));
    }
    this.seen = Object.fromEntries(Object.entries(now).map(([name, values]) => [name, keep(this.seen?.[name], values)]));
    for (const chart of this.charts) chart.draw(step);
    this.light();
  }

  dirty({ place, cells }, now) {
    if (!this.seen) return cells.keys();
    const { first, count } = place.lane;
    const out = new Set();
    for (const [name, values] of Object.entries(now)) {
      const seen = this.seen[name];
      for (let cell = first; cell < first + count; cell++) {
        if (values[cell] !== seen[cell]) out.add(place.run === 1 ? cell - first : bucketOf(place, cell - first));
      }
    }
    return out;
  }

  // The cells of the trace that drawn cell `i` of a lane stands for.
  members({ place }, i) {
    const { lane, run } = place;
    if (run === 1) return [lane.first + i];
    if (!lane.columns) {
      return Array.from({ length: Math.min(run, lane.count - i * run) }, (_, k) => lane.first + i * run + k);
    }
    const [row, column] = [Math.floor(i / place.columns) * run, (i % place.columns) * run];
    const out = [];
    for (let r = row; r < row + run; r++) {
      for (let c = column; c < Math.min(column + run, lane.columns); c++) {
        if (r * lane.columns + c < lane.count) out.push(lane.first + r * lane.columns + c);
      }
    }
    return out;
  }

  lookOf(view, i) {
    const looks = this.members(view, i).map((cell) => look(this.film, view.place.lane, cell, this.letters));
    return looks.length === 1 ? looks[0] : blend(looks);
  }

  // Point at a drawn cell ([lane, cell], or null for none) and say what it is.
  point(pointed) {
    this.pointed = pointed;
    this.light();
    return pointed ? this.describe(this.views[pointed[0]], pointed[1]) : "";
  }

  keyOf(lane, cell) {
    return this.film.value("key", cell) || lane.keys[cell - lane.first] || 0;
  }

  // Light the cell pointed at, and all with the same key in every lane.
  light() {
    for (const cell of this.svg.querySelectorAll("[data-lit]")) delete cell.dataset.lit;
    if (!this.pointed || !this.views[this.pointed[0]]?.cells[this.pointed[1]]) return;
    const [at, i] = this.pointed;
    const view = this.views[at];
    view.cells[i].g.dataset.lit = "this";
    const key = view.place.run === 1 ? this.keyOf(view.place.lane, view.place.lane.first + i) : 0;
    if (!key) return;
    for (const { place, cells } of this.views) {
      if (place.run > 1) continue;
      cells.forEach((cell, k) => {
        if (cell !== view.cells[i] && this.keyOf(place.lane, place.lane.first + k) === key) cell.g.dataset.lit = "same";
      });
    }
  }

  describe(view, i) {
    const members = this.members(view, i);
    const { lane } = view.place;
    const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
    const now = this.lookOf(view, i);
    const hue = this.film.header.hues.find(([number]) => number === now.hue);
    const state = this.film.now.state ? this.film.header.words[now.state] || this.words.state[STATES[now.state]] : "";
    const who = now.hue ? (hue ? hue[2] : this.letters[now.hue]) : "";
    if (members.length > 1) {
      const [first, last] = [members[0] - lane.first, members[members.length - 1] - lane.first];
      return [lane.label, fill(this.words.several, { first, last }), state, who].filter(Boolean).join(" · ");
    }
    const [cell] = members;
    const at = cell - lane.first;
    const detail = this.film.value("detail", cell);
    const units = this.film.value("fill", cell);
    return [
      lane.label, lane.under[at] || lane.labels[at] || (lane.columns ? "" : `#${at}`),
      this.film.header.texts[this.film.value("text", cell)], who, state,
      lane.full && now.hue ? fill(this.words.filled, { n: units, full: lane.full }) : "",
      now.ref > 0 ? fill(this.words.refs, { n: now.ref }) : "", now.hashed ? this.words.hashed : "",
      detail ? this.film.details.at(detail - 1) : "",
    ].filter(Boolean).join(" · ");
  }
}

function keep(old, values) {
  if (!old) return values.slice();
  old.set(values);
  return old;
}
