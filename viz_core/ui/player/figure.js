// The figure: lanes of cells, legend and series in one SVG, laid out anew whenever the width changes.

import { pieces } from "./bars.js";
import { Cell, STATES, blend, look, node } from "./cells.js";
import { bucketOf, listed, rowName, underName } from "./fit.js";
import { layout, spot } from "./layout.js";
import { id, members, part } from "./lanes.js";
import { legend } from "./legend.js";
import { Chart, breadth } from "./lines.js";
import { History } from "./map.js";

export class Figure {
  constructor(svg, film) {
    Object.assign(this, { svg, film, words: film.header.player, legend: legend(film), pointed: null });
    this.letters = ["", ..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
    for (const [hue, letter] of film.header.hues) this.letters[hue] = letter;
    this.lanes = film.header.lanes;
  }

  // Lay everything out for a width; `em` is the reader's type size over 16 px.
  place(width, em) {
    const { svg, film } = this;
    Object.assign(this, { width, em });
    const number = 14 * Math.max(3, ...film.series.map((one) => breadth(film, one))) + 12;
    const options = { em, tall: film.header.tall, legend: this.legend, number };
    this.plan = layout({ ...film.header, lanes: this.lanes }, width, options);
    svg.replaceChildren();
    svg.setAttribute("width", width);
    svg.setAttribute("height", this.plan.height);
    this.views = this.plan.lanes.map((lane) => this.lane(lane));
    const key = node("g", { class: "legend" }, svg);
    for (const item of this.plan.legend) this.swatch(key, item);
    this.charts = this.timed(this.plan.series.rows);
    this.seen = null;
  }

  // What stands over time: maps of lanes, then the series.
  timed(rows) {
    const { svg, film } = this;
    const maps = film.header.lanes.filter((lane) => lane.history);
    return rows.map((place, i) => {
      const lane = maps[i];
      if (!lane) return new Chart(svg, film, film.series[i - maps.length], place);
      return new History(svg, film, lane, { ...place, name: filled(this.words.history, { lane: lane.label }) });
    });
  }

  lane(place) {
    const g = node("g", { class: listed(place.lane) ? "lane list" : place.size < 17 ? "lane tiny" : "lane" }, this.svg);
    const { lane } = place;
    place.name.forEach((line, i) => node("text", { class: "name", x: 0, y: place.labelY + i * place.line }, g, line));
    const view = { place, cells: [] };
    if (lane.bars) return this.bars(g, view);
    for (let i = 0; i < place.count; i++) {
      const [x, y] = spot(place, i);
      const cell = new Cell(g, x, y, place);
      cell.g.dataset.cell = i;
      cell.g.dataset.lane = this.plan.lanes.indexOf(place);
      view.cells.push(cell);
      if (place.under) node("text", { class: "under", x: x + place.w / 2, y: y + place.h + 12 * this.em }, g, underName(lane.under[i]));
    }
    if (listed(lane)) this.lines(place, view.cells);
    else this.names(g, place);
    return view;
  }

  bars(g, view) {
    view.cells = pieces(g, view.place);
    const lane = this.plan.lanes.indexOf(view.place);
    view.cells.forEach((piece, i) => Object.assign(piece.g.dataset, { cell: i, lane }));
    return view;
  }

  // The lines of a list, which follow the state of their marks.
  lines(place, cells) {
    place.lane.rowNames.forEach((line, i) => {
      node("text", { class: "line", x: place.w + 10 * this.em, y: place.h / 2 }, cells[i].g, line);
    });
  }

  // Names of a grid's rows and columns.
  names(g, place) {
    if (place.run > 1) return;
    if (place.names) {
      place.lane.rowNames.forEach((name, i) => {
        const [x, y] = spot(place, i * place.columns);
        node("text", { class: "row", x: x - 8, y: y + place.h / 2 }, g, rowName(name));
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
    const place = { w: size, h: size, size: 18, gap: 6, em: this.em };
    new Cell(parent, x, y, place).draw({ shade: 0, part: 1, ref: 0, hashed: 0, cursor: 0, ...seen });
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
    const { lane, run } = place;
    const out = new Set();
    for (const [name, values] of Object.entries(now)) {
      const seen = this.seen[name];
      for (let k = 0; k < lane.count; k++) {
        const cell = id(lane, k);
        if (values[cell] !== seen[cell]) out.add(run === 1 ? k : bucketOf(place, k));
      }
    }
    return out;
  }

  lookOf(view, i) {
    const { lane } = view.place;
    const looks = members(view.place, i).map((k) => look(this.film, lane, id(lane, k), lane.labels[k], this.letters));
    return looks.length === 1 ? looks[0] : blend(looks);
  }

  // Show the neighbourhood of a bucket cell by cell; without one, all lanes whole again. True if anything changed.
  zoom(pointed) {
    const whole = this.film.header.lanes;
    const place = pointed && this.views[pointed[0]].place;
    if (!place && this.lanes === whole) return false;
    if (place && place.run === 1) return false;
    this.lanes = place ? this.lanes.map((lane) => (lane === place.lane ? part(place, pointed[1]) : lane)) : whole;
    this.pointed = null;
    this.place(this.width, this.em);
    return true;
  }

  // Point at a drawn cell ([lane, cell], or null for none) and say what it is.
  point(pointed) {
    this.pointed = pointed;
    this.light();
    return pointed ? this.describe(this.views[pointed[0]], pointed[1]) : "";
  }

  keyOf(lane, k) {
    return this.film.value("key", id(lane, k)) || lane.keys[k] || 0;
  }

  // Ring the cell pointed at, and all with the same key in every lane.
  light() {
    for (const cell of this.lit || []) cell.ring("lit", false);
    this.lit = [];
    const view = this.pointed && this.views[this.pointed[0]];
    if (!view || !view.cells[this.pointed[1]]) return;
    this.lit.push(view.cells[this.pointed[1]]);
    const key = view.place.run === 1 ? this.keyOf(view.place.lane, this.pointed[1]) : 0;
    for (const { place, cells } of key ? this.views : []) {
      if (place.run === 1) this.lit.push(...cells.filter((_, k) => this.keyOf(place.lane, k) === key));
    }
    for (const cell of this.lit) cell.ring("lit", true);
  }

  // The line on a drawn cell: lane, name, what it holds, whose, in which state, and what the trace tells of it.
  describe(view, i) {
    const { lane } = view.place;
    const { words } = this;
    const places = members(view.place, i);
    const now = this.lookOf(view, i);
    const hue = this.film.header.hues.find(([number]) => number === now.hue);
    const who = now.hue ? (hue ? hue[2] : this.letters[now.hue]) : "";
    const state = this.film.now.state ? this.film.header.words[now.state] || words.state[STATES[now.state]] : "";
    const [cell, last] = [id(lane, places[0]), id(lane, places.at(-1))];
    if (places.length > 1) {
      const range = filled(words.several, { first: cell - lane.first, last: last - lane.first });
      return [lane.label, range, who, state].filter(Boolean).join(" · ");
    }
    const name = lane.under[places[0]] || lane.labels[places[0]] || (lane.columns || lane.bars ? "" : `#${cell - lane.first}`);
    const detail = this.film.value("detail", cell);
    return [
      lane.label, name, this.film.header.texts[this.film.value("text", cell)], who, state,
      lane.full && this.film.value("hue", cell) ? filled(words.filled, { n: this.film.value("fill", cell), full: lane.full }) : "",
      now.ref ? filled(words.refs, { n: now.ref }) : "", now.hashed ? words.hashed : "",
      detail ? this.film.details.at(detail - 1) : "",
    ].filter(Boolean).join(" · ");
  }
}

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function keep(old, values) {
  if (!old) return values.slice();
  old.set(values);
  return old;
}
