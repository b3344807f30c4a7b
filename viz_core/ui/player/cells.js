// Draws cells. A cell's look is a handful of numbers; a class names them and the style sheet gives the colours.

import { measure } from "./layout.js";

const SVG = "http://www.w3.org/2000/svg";
export const STATES = ["empty", "free", "held", "computed", "reused", "evicted", "masked"];
const [EMPTY, FREE, HELD, COMPUTED, REUSED, EVICTED, MASKED] = STATES.keys();
const SOLID = [HELD, COMPUTED, REUSED];

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
  const n = notched ? Math.max(4, Math.min(w, h) * 0.26) : 0;
  const corner = n ? `H${w - n}L${w} ${n}` : `H${w - r}Q${w} 0 ${w} ${r}`;
  return `M${r} 0${corner}V${h - r}Q${w} ${h} ${w - r} ${h}H${r}Q0 ${h} 0 ${h - r}V${r}Q0 0 ${r} 0Z`;
}

// Slanted lines inside a w × h box, cut at its edges, so that no clip or pattern is needed.
export function hatch(w, h, gap) {
  let out = "";
  for (let c = gap; c < w + h; c += gap) {
    const [x0, y0] = c < h ? [0, c] : [c - h, h];
    const [x1, y1] = c < w ? [c, 0] : [w, c - w];
    out += `M${x0} ${y0}L${x1} ${y1}`;
  }
  return out;
}

// How `cell` looks now. `letters` gives each hue its letter.
export function look(film, lane, cell, letters) {
  const at = (plane) => film.value(plane, cell);
  const hue = at("hue");
  const own = lane.labels[cell - lane.first] || "";
  const inside = film.header.texts[at("text")] || own || letters[hue] || "";
  const shade = at("shade");
  const state = film.now.state ? at("state") : hue || shade ? HELD : EMPTY;
  const part = lane.full && SOLID.includes(state) ? Math.min(1, at("fill") / lane.full) : 1;
  return { state, hue, shade, part, text: inside, ref: at("ref"), hashed: at("hashed"), cursor: at("cursor") };
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

// One drawn cell. Extras (second fill, hatch, reference count) are made when first needed.
export class Cell {
  constructor(parent, x, y, w, h, size) {
    Object.assign(this, { w, h, size, was: "" });
    this.g = node("g", { transform: `translate(${x} ${y})` }, parent);
    this.body = node("path", { class: "body" }, this.g);
    this.small = size < 20;
  }

  draw(now) {
    const said = `${now.state} ${now.hue} ${now.shade} ${now.part} ${now.text} ${now.ref} ${now.hashed} ${now.cursor}`;
    if (said === this.was) return;
    this.was = said;
    const { w, h } = this;
    const partial = now.part < 1;
    this.g.setAttribute("class", this.kind(now, partial));
    if (now.shade) this.g.style.setProperty("--t", `${Math.round((now.shade - 1) / 2.54)}%`);
    const shape = box(w, h, now.hashed);
    if (shape !== this.shape) this.body.setAttribute("d", (this.shape = shape));
    this.text(now);
    this.partial(now, partial ? Math.max(now.part * w, now.part ? 1.5 : 0) : 0, partial);
    this.extra("lines", now.state === EVICTED || now.hue > 6, () => node("path", { class: "lines", d: hatch(w, h, Math.max(4, h / 6)) }));
    this.extra("refs", now.ref > 1 && !this.small, () => node("text", { class: "refs", x: w - 2, y: h - 4 }));
    if (this.refs && now.ref > 1) this.refs.textContent = `×${now.ref}`;
  }

  kind(now, partial) {
    const hue = now.shade ? "shade" : `h${now.hue && ((now.hue - 1) % 6) + 1}`;
    const shaded = now.shade > 140 ? " deep" : "";
    return `cell ${STATES[now.state]} ${hue}${shaded}${partial ? " part" : ""}${now.hashed ? " hashed" : ""}${now.cursor ? " cursor" : ""}`;
  }

  text(now) {
    const text = now.state === EMPTY || now.state === MASKED || this.size < 17 ? "" : this.short(now.text);
    if (!this.label && text) this.label = this.letter(this.g, "text");
    if (this.label && this.label.textContent !== text) this.label.textContent = text;
  }

  letter(parent, kind) {
    const size = this.size >= 36 ? 16 : this.size >= 24 ? 14 : 12;
    return node("text", { class: kind, x: this.w / 2, y: this.h / 2, "data-size": size }, parent);
  }

  // The text, cut with an ellipsis where the cell is too narrow.
  short(text) {
    const room = Math.max(1, (this.w - 4) / (this.size >= 36 ? 15 : this.size >= 24 ? 13.5 : 12));
    if (this.size < 28 && measure(text) > room) return "";
    let out = text;
    while (measure(out) > room && out.length > 1) out = [...out].slice(0, out.endsWith("…") ? -2 : -1).join("") + "…";
    return out;
  }

  // The filled part lies over the body, with its own letter, and a nested svg cuts both at the fill.
  partial(now, width, on) {
    if (on && !this.part) {
      this.part = node("svg", { class: "fill", height: this.h, width: 0 }, this.g);
      this.over = node("path", { class: "over" }, this.part);
      this.on = this.letter(this.part, "text on");
    }
    if (!this.part) return;
    this.part.setAttribute("width", on ? width : 0);
    if (on) {
      this.over.setAttribute("d", this.shape);
      this.on.textContent = this.label ? this.label.textContent : "";
    }
  }

  extra(name, on, make) {
    if (on && !this[name]) this.g.append((this[name] = make()));
    if (this[name]) this[name].style.display = on ? "" : "none";
  }
}
