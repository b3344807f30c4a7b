// The player: one trace, one step, and the reader's hand.

import { parted } from "./bytes.js";
import { run } from "./clock.js";
import { event, label, marks, playing, skeleton, usual } from "./controls.js";
import { Figure } from "./figure.js";
import { digits, open } from "./film.js";
import { listen, neighbour } from "./hand.js";
import { save } from "./save.js";
import { measure } from "./text.js";

const CALM = 5; // steps a second above which nothing is tweened
const REPORT_MS = 600;

export class Player {
  constructor(root) {
    this.root = root;
    this.parts = skeleton(root);
    this.step = 0;
    this.start = this.told = this.wanted = null; // steps: named by Python, told to Python, asked for and not yet shown
    this.speed = 0;
    this.on = false;
    this.report = () => {};
    root.inert = true; // until there is a film
    listen(this);
    this.watcher = new ResizeObserver(() => this.place(false));
    this.watcher.observe(this.parts.figure);
    this.watcher.observe(this.parts.caption); // grows with the type size, which the figure must follow
  }

  // New data. The step stays where it can, unless Python names another than before or than the player told it last.
  load(bytes, report) {
    const [front, body] = parted(bytes);
    const { start } = front;
    if (start !== this.start && start !== this.told) this.wanted = start;
    Object.assign(this, { report, start });
    if (this.body && same(body, this.body)) return this.film && this.turn();
    this.body = body;
    const film = open(front, body);
    if (!film.then) return this.insert(film);
    return film.then((ready) => this.body === body && this.insert(ready)); // newer data may have come meanwhile
  }

  insert(film) {
    this.play(false);
    this.root.inert = false;
    this.root.classList.toggle("one", film.steps === 1);
    if (!this.film || this.film.steps !== film.steps) this.speed = usual(film.steps);
    Object.assign(this, { film, figure: new Figure(this.parts.svg, film) });
    label(this.parts, film, this.speed);
    playing(this.parts, film, false);
    this.parts.whole.hidden = true;
    this.step = Math.min(this.wanted ?? this.step, film.steps - 1);
    this.told = this.wanted;
    this.wanted = null;
    this.place(true);
  }

  // Go to the step that Python asks for, if it asks.
  turn() {
    if (this.wanted === null) return;
    this.told = this.wanted;
    this.wanted = null;
    this.go(this.told, false);
  }

  // Lay out for the width at hand.
  place(force) {
    const width = Math.floor(this.parts.figure.clientWidth);
    const em = parseFloat(getComputedStyle(this.root).fontSize) / 16;
    if (!this.film || !width || (!force && width === this.figure.width && em === this.figure.em)) return;
    this.still(true);
    this.figure.place(width, em);
    this.reserve();
    marks(this.parts, this.film);
    this.show();
  }

  // Keep the height of the longest caption, so that nothing below moves.
  reserve() {
    const { caption } = this.parts;
    const { steps, captions } = this.film;
    let longest = "";
    for (let i = 0; i < steps; i += Math.ceil(steps / 2000)) {
      const text = captions.at(i);
      if (measure(text) > measure(longest)) longest = text;
    }
    caption.style.minHeight = "";
    caption.textContent = longest;
    caption.style.minHeight = `${caption.offsetHeight}px`;
  }

  show() {
    const { film, parts, step } = this;
    this.figure.draw(step);
    parts.range.value = step;
    parts.count.textContent = `${digits(step + 1, 0)} / ${digits(film.steps, 0)}`;
    parts.range.setAttribute("aria-valuetext", parts.count.textContent);
    parts.caption.textContent = film.captions.at(step);
    this.root.dataset.step = step;
    this.say();
  }

  // The line on the cell pointed at, or how to read one.
  say() {
    const { detail } = this.parts;
    const text = this.figure.point(this.figure.pointed);
    detail.textContent = text || this.hint(this.film.header.player);
    detail.classList.toggle("hint", !text);
  }

  hint(words) {
    const bars = this.film.header.lanes.some((lane) => lane.bars);
    if (matchMedia("(hover: hover)").matches) return bars ? words.hint_bars : words.hint;
    return bars ? words.hint_touch_bars : words.hint_touch;
  }

  go(step, calm = true) {
    const next = Math.max(0, Math.min(this.film.steps - 1, step));
    if (next === this.step) return;
    this.still(!calm || Math.abs(next - this.step) > 1);
    this.step = next;
    this.show();
    this.rest();
  }

  jump(step) {
    this.play(false);
    this.go(step, false);
  }

  // Tell Python the step once the reader rests on it.
  rest() {
    clearTimeout(this.waiting);
    if (this.on || !this.film.header.report) return;
    this.waiting = setTimeout(() => {
      if (this.step !== (this.told ?? this.start)) this.report((this.told = this.step));
    }, REPORT_MS);
  }

  still(on) {
    this.root.classList.toggle("still", on);
  }

  play(on) {
    if (on === this.on) return;
    this.on = on;
    playing(this.parts, this.film, on);
    this.root.dataset.playing = on;
    if (!on) return this.rest();
    if (this.step === this.film.steps - 1) this.go(0, false);
    run((steps) => this.advance(steps), () => this.speed);
  }

  // Called by the clock once a frame; false stops it.
  advance(steps) {
    if (!this.on || !this.root.isConnected) return false;
    if (steps) this.go(this.step + steps, this.speed < CALM);
    if (this.step === this.film.steps - 1) this.play(false);
    return this.on;
  }

  act(what) {
    const { step, film } = this;
    const kind = Number(this.parts.kinds.value);
    const moves = {
      first: () => 0, back: () => step - 1, forward: () => step + 1, last: () => film.steps - 1,
      event_back: () => event(film, step, -1, kind), event_forward: () => event(film, step, 1, kind),
    };
    if (what === "play") return this.play(!this.on);
    if (what === "save") return save(this.parts.svg, film.captions.at(step), film.header, step);
    if (what === "zoom" || what === "whole") return this.zoom(what === "zoom" ? this.figure.pointed : null);
    if (what.startsWith("cell")) return this.aim(neighbour(this.figure, what === "cell_back" ? -1 : 1));
    this.play(false);
    return this.go(moves[what]());
  }

  zoom(pointed) {
    this.still(true);
    if (this.figure.zoom(pointed)) this.show();
    this.parts.whole.hidden = this.figure.lanes === this.film.header.lanes;
  }

  aim(pointed) {
    this.figure.point(pointed);
    this.say();
  }

  close() {
    this.on = false;
    this.watcher.disconnect();
    clearTimeout(this.waiting);
  }
}

const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
