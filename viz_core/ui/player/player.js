// The player: one trace, one step, and the reader's hand. Streamlit calls `player` again with new data on the same page.

import { asked, event, label, marks, playing, skeleton, usual } from "./controls.js";
import { Figure } from "./figure.js";
import { digits, halves, open } from "./film.js";
import { save } from "./save.js";
import { measure } from "./text.js";

const CALM = 5; // steps a second above which nothing is tweened
const REPORT_MS = 600;

class Player {
  constructor(root) {
    this.root = root;
    this.parts = skeleton(root);
    this.step = 0;
    this.start = this.told = this.wanted = null; // steps: named by Python, told to Python, asked for and not yet shown
    this.speed = 0;
    this.on = false;
    this.report = () => {};
    this.listen();
  }

  // New data. The step stays where it can, unless Python names another than before or than the player told it last.
  load(bytes, report) {
    const { header, body } = halves(bytes);
    const { start, ...rest } = header;
    const print = JSON.stringify(rest);
    if (start !== this.start && start !== this.told) this.wanted = start;
    Object.assign(this, { report, start });
    if (print === this.print && same(body, this.body)) return this.film && this.turn();
    Object.assign(this, { print, body });
    const film = open({ header, body });
    if (!film.then) return this.insert(film);
    return film.then((ready) => this.body === body && this.insert(ready)); // newer data may have come meanwhile
  }

  insert(film) {
    this.play(false);
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
    detail.textContent = text || this.film.header.player[matchMedia("(hover: hover)").matches ? "hint" : "hint_touch"];
    detail.classList.toggle("hint", !text);
  }

  go(step, calm = true) {
    const next = Math.max(0, Math.min(this.film.steps - 1, step));
    if (next === this.step) return;
    this.still(!calm || Math.abs(next - this.step) > 1);
    this.step = next;
    this.show();
    this.rest();
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
    let [last, due] = [performance.now(), 0];
    const frame = (time) => {
      if (!this.on || !this.root.isConnected) return;
      due += (Math.min(100, Math.max(0, time - last)) / 1000) * this.speed;
      last = time;
      const whole = Math.floor(due + 1e-6);
      due -= whole;
      if (whole) this.go(this.step + whole, this.speed < CALM);
      if (this.step === this.film.steps - 1) return this.play(false);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
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
    if (what.startsWith("cell")) return this.walk(what === "cell_back" ? -1 : 1);
    this.play(false);
    return this.go(moves[what]());
  }

  // Up and Down read cell after cell through all lanes.
  walk(way) {
    const flat = this.figure.views.flatMap((view, lane) => view.cells.map((_, i) => [lane, i]));
    const [lane, cell] = this.figure.pointed || [];
    const at = flat.findIndex(([l, c]) => l === lane && c === cell);
    this.aim(flat[at < 0 ? 0 : Math.max(0, Math.min(flat.length - 1, at + way))]);
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

  listen() {
    const { root, parts } = this;
    for (const button of parts.buttons) button.onclick = () => this.act(button.dataset.do);
    parts.range.oninput = () => {
      this.play(false);
      this.go(Number(parts.range.value), false);
    };
    parts.speed.onchange = () => { this.speed = Number(parts.speed.value); };
    parts.kinds.onchange = () => marks(parts, this.film);
    root.onkeydown = (press) => {
      const what = asked(press, parts);
      if (!what) return;
      press.preventDefault();
      press.stopPropagation();
      this.act(what);
    };
    parts.figure.onpointermove = (move) => this.over(move.target);
    parts.figure.onpointerdown = (down) => this.over(down.target);
    parts.figure.onclick = () => this.figure.pointed && this.zoom(this.figure.pointed);
    parts.figure.onpointerleave = (leave) => leave.pointerType === "mouse" && this.aim(null);
    this.watcher = new ResizeObserver(() => this.place(false));
    this.watcher.observe(parts.figure);
    this.watcher.observe(parts.caption); // grows with the type size, which the figure must follow
  }

  over(target) {
    const cell = target.closest("[data-cell]");
    const pointed = cell ? [Number(cell.dataset.lane), Number(cell.dataset.cell)] : null;
    if (String(pointed) !== String(this.figure.pointed)) this.aim(pointed);
  }

  close() {
    this.on = false;
    this.watcher.disconnect();
    clearTimeout(this.waiting);
  }
}

const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

const players = new WeakMap(); // the element that Streamlit gives us -> its player

export default function player({ data, parentElement, setStateValue }) {
  let one = players.get(parentElement);
  if (!one) {
    const root = document.createElement("div");
    root.className = "infersight-player";
    parentElement.append(root);
    one = new Player(root);
    players.set(parentElement, one);
  }
  one.load(data, (step) => setStateValue("step", step));
  return () => {
    one.close();
    one.root.remove();
    players.delete(parentElement);
  };
}
