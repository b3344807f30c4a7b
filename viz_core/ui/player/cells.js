// Draws cells. A cell's look is a handful of numbers; a class names them and the style sheet gives the colours.

import { typeOf } from "./fit.js";
import { cut, measure } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";
export const STATES = ["empty", "free", "held", "computed", "reused", "evicted", "masked"];
export const [EMPTY, , HELD, COMPUTED, REUSED, EVICTED, MASKED] = STATES.keys();
export const SOLID = [HELD, COMPUTED, REUSED];

export function node(name, attributes = {}, parent = null, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

// A box with soft corners; a hashed one has its upper right corner cut off.
export function box(w, h, notched) {
  const r = Math.min(5, w * 0.14, h * 0.14);
  const n = notched ? notch(w, h) : 0;
  const corner = n ? `H${w - n}L${w} ${n}` : `H${w - r}Q${w} 0 ${w} ${r}`;
  return `M${r} 0${corner}V${h - r}Q${w} ${h} ${w - r} ${h}H${r}Q0 ${h} 0 ${h - r}V${r}Q0 0 ${r} 0Z`;
}

// How far a notch cuts into a w × h box.
const notch = (w, h) => Math.max(4, Math.min(w, h) * 0.26);

// Slanted lines inside a w × h box, cut at its edges and at the notch, so that no clip or pattern is needed.
export function hatch(w, h, gap, notched) {
  let out = "";
  for (let c = gap; c < w + h; c += gap) {
    const x0 = Math.max(0, c - h);
    const x1 = Math.min(c, w, notched ? (c + w - notch(w, h)) / 2 : w);
    if (x1 > x0) out += `M${x0} ${c - x0}L${x1} ${c - x1}`;
  }
  return out;
}

// Who holds a cell: its hue, or none where several do.
export const owner = (hue, refs) => (refs > 1 ? 0 : hue);

// How `cell` looks now. `own` is the text that the lane gives it, `letters` the letter of each hue.
export function look(film, lane, cell, own, letters) {
  const at = (plane) => film.value(plane, cell);
  const hue = owner(at("hue"), at("ref"));
  const inside = film.header.texts[at("text")] || own || letters[hue] || "";
  const shade = at("shade");
  const state = film.now.state ? at("state") : hue || shade ? HELD : EMPTY;
  const part = lane.full && SOLID.includes(state) ? Math.min(1, at("fill") / lane.full) : 1;
  return { state, hue, shade, part, text: inside, ref: at("ref"), hashed: at("hashed"), cursor: at("cursor"), moved: at("moved") };
}

// Several cells as one: the commonest look, filled from the left by the share of cells in use.
export function blend(looks) {
  const used = looks.filter((one) => SOLID.includes(one.state));
  const votes = new Map();
  for (const one of used.length ? used : looks) {
    const vote = votes.get(`${one.state} ${one.hue}`) || { one, n: 0, shade: 0 };
    votes.set(`${one.state} ${one.hue}`, { one, n: vote.n + 1, shade: Math.max(vote.shade, one.shade) });
  }
  const most = [...votes.values()].reduce((a, b) => (b.n > a.n ? b : a));
  const any = (plane) => Math.max(...looks.map((one) => one[plane]));
  const part = used.length ? used.reduce((sum, one) => sum + one.part, 0) / looks.length : 1;
  return { ...most.one, shade: most.shade, part, text: "", ref: 0, hashed: 0, cursor: any("cursor") };
}

// One drawn cell. Extras (second fill, hatch, reference count, ring) are made when first needed.
export class Cell {
  constructor(parent, x, y, place) {
    const { w, h, size, gap, em } = place;
    Object.assign(this, { w, h, size, gap, em, said: "" });
    this.g = node("g", { transform: `translate(${x} ${y})` }, parent);
    this.body = node("path", { class: "body" }, this.g);
  }

  draw(now) {
    const said = `${now.state} ${now.hue} ${now.shade} ${now.part} ${now.text} ${now.ref} ${now.hashed} ${now.cursor}`;
    if (said === this.said) return;
    this.said = said;
    const { w, h } = this;
    const partial = now.part < 1;
    const lined = now.state === EVICTED || (now.hue > 6 && SOLID.includes(now.state));
    this.g.setAttribute("class", kind(now, partial, lined));
    if (now.shade) this.g.style.setProperty("--t", `${Math.round((now.shade - 1) / 2.54)}%`);
    const shape = box(w, h, now.hashed);
    if (shape !== this.shape) this.body.setAttribute("d", (this.shape = shape));
    this.partial(partial ? Math.max(now.part * w, now.part ? 1.5 : 0) : 0, partial);
    this.text(now);
    if (this.extra("lines", lined, () => node("path", { class: "lines" }))) {
      this.body.after(this.lines);
      this.lines.setAttribute("d", hatch(w, h, Math.max(4, h / 7), now.hashed));
    }
    const shared = now.ref > 1 && this.size >= 24;
    this.raise(shared && this.size < 44 ? 6 * this.em : 0);
    if (this.extra("refs", shared, () => node("text", { class: "refs", x: w - 3, y: h - 8 * this.em }))) {
      this.refs.textContent = `×${now.ref}`;
    }
    this.ring("cursor", now.cursor);
  }

  // Make room for a reference count under the letter of a small cell.
  raise(up) {
    this.label?.setAttribute("y", this.h / 2 - up);
  }

  // A ring around the cell: where the step looks, what the reader points at, and its like.
  ring(name, on) {
    const out = Math.min(4, this.gap / 2 + 0.5);
    const d = box(this.w + 2 * out, this.h + 2 * out);
    this.extra(name, on, () => node("path", { class: `ring ${name}`, d, transform: `translate(${-out} ${-out})` }));
  }

  text(now) {
    const text = now.state === EMPTY || now.state === MASKED || this.size < 17 ? "" : this.short(now.text);
    if (!this.label && text) {
      this.label = node("text", { class: "text", x: this.w / 2, y: this.h / 2 }, this.g);
      this.label.style.fontSize = `${typeOf(this.size) * this.em}px`;
    }
    if (this.label && this.label.textContent !== text) this.label.textContent = text;
  }

  // The text as far as the cell holds it; in a small cell all of it or nothing.
  short(text) {
    const room = Math.max(1, (this.w - 4) / (typeOf(this.size) * this.em));
    return this.size < 28 && measure(text) > room ? "" : cut(text, room);
  }

  // The filled part lies over the body and under the letter; a nested svg cuts it at the fill.
  partial(width, on) {
    if (on && !this.part) {
      this.part = node("svg", { class: "fill", height: this.h, width: 0 });
      this.over = node("path", { class: "over" }, this.part);
      this.body.after(this.part);
    }
    if (!this.part) return;
    this.part.setAttribute("width", on ? width : 0);
    if (on) this.over.setAttribute("d", this.shape);
  }

  extra(name, on, make) {
    if (on && !this[name]) this.g.append((this[name] = make()));
    if (this[name]) this[name].style.display = on ? "" : "none";
    return on;
  }
}

function kind({ state, hue, shade, hashed }, partial, lined) {
  const colour = shade ? "shade" : `h${hue && ((hue - 1) % 6) + 1}`;
  return `cell ${STATES[state]} ${colour}${partial ? " part" : ""}${lined ? " lined" : ""}${hashed ? " hashed" : ""}`;
}
