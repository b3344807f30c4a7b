// A trace as the player sees it: wound to any step, its sentences filled in, its numbers as Python wrote them.

import { inflated, parted, typed } from "./bytes.js";
import { unroll } from "./deltas.js";

const BOXES = ["before", "after", "outline", "points"]; // of a lane of bars
const KEYFRAME_BYTES = 32 << 20; // what keyframes may take together

// The film behind a front: at once, or a promise of it where it is packed.
export function open(front, film) {
  return front.packed ? inflated(film).then((bytes) => new Film(...parted(bytes))) : new Film(...parted(film));
}

// Sentences by index: a template's literals and slots, filled from its columns.
class Sentences {
  constructor(entry, arrays) {
    this.parts = entry.parts;
    this.columns = entry.columns.map((slots) =>
      slots.map((slot) => ({ texts: slot.texts, values: arrays[slot.texts ? slot.at : slot.ints] })));
    this.which = arrays[entry.which];
    this.row = new Uint32Array(this.which.length);
    const seen = new Uint32Array(this.parts.length);
    this.which.forEach((key, i) => { this.row[i] = seen[key]++; });
  }

  at(index) {
    const key = this.which[index];
    return this.parts[key].map((part) => (typeof part === "string" ? part : this.slot(key, part, index))).join("");
  }

  slot(key, part, index) {
    const { texts, values } = this.columns[key][part];
    const value = values[this.row[index]];
    return texts ? texts[value] : String(value);
  }
}

// A number that Python rounded, times 10 ** places, with its decimal point, grouped digits and a true minus.
export function digits(whole, places) {
  if (Number.isNaN(whole)) return "–";
  if (!Number.isFinite(whole)) return whole < 0 ? "−∞" : "∞";
  const text = String(Math.abs(whole)).padStart(places + 1, "0");
  const cut = text.length - places;
  const grouped = text.slice(0, cut).replace(/\B(?=(\d{3})+$)/g, ",");
  return (whole < 0 ? "−" : "") + grouped + (places ? "." + text.slice(cut) : "");
}

// A trace, wound to one step: `now[plane]` holds that plane's value in every cell.
export class Film {
  constructor(header, body) {
    const arrays = typed(header.arrays, body);
    this.header = header;
    for (const { bars } of header.lanes) if (bars) for (const name of BOXES) bars[name] = arrays[bars[name]];
    this.steps = header.steps;
    this.size = header.cells;
    this.planes = unroll(header, arrays);
    this.now = Object.fromEntries(this.planes.map(({ name }) => [name, new Uint32Array(this.size)]));
    this.captions = new Sentences(header.captions, arrays);
    this.details = new Sentences(header.details, arrays);
    this.series = header.series.map((one) => ({ ...one, line: arrays[one.line], at: arrays[one.at] }));
    this.events = header.events.map(({ kind, steps }) => ({ kind, steps: arrays[steps] }));
    const frame = Math.max(1, this.size * this.planes.length * 4);
    this.every = Math.max(256, Math.ceil((this.steps * frame) / KEYFRAME_BYTES));
    this.frames = new Map(); // step -> copy of `now`
    this.step = -1;
  }

  // Wind to a step: from where the film is, or from the nearest keyframe if that is less far.
  seek(step) {
    let from = Math.floor(step / this.every) * this.every;
    while (from > 0 && !this.frames.has(from)) from -= this.every;
    if (step < this.step || from > this.step) this.rewind(from);
    while (this.step < step) {
      const stop = Math.min(step, (Math.floor(this.step / this.every) + 1) * this.every);
      for (const plane of this.planes) play(plane, this.now[plane.name], this.step, stop);
      this.step = stop;
      if (stop % this.every === 0 && stop && !this.frames.has(stop)) {
        this.frames.set(stop, this.planes.map(({ name }) => this.now[name].slice()));
      }
    }
    return this.now;
  }

  rewind(from) {
    const frame = this.frames.get(from);
    this.planes.forEach(({ name }, i) => (frame ? this.now[name].set(frame[i]) : this.now[name].fill(0)));
    this.step = frame ? from : -1;
  }

  // A plane's values after each step, from the first on, in one array that changes; null if no step sets it.
  *replay(name) {
    const plane = this.planes.find((one) => one.name === name);
    const now = new Uint32Array(this.size);
    for (let step = 0; step < this.steps; step++) {
      if (plane) play(plane, now, step - 1, step);
      yield plane ? now : null;
    }
  }

  value(plane, cell) {
    return this.now[plane] ? this.now[plane][cell] : 0;
  }

  // The steps of one kind of event, or of all (−1).
  moments(kind) {
    return kind < 0 ? this.events.flatMap(({ steps }) => [...steps]) : this.events[kind].steps;
  }

  // The number of a series at a step, as Python wrote it.
  shown(one, step) {
    const text = one.places === null ? one.texts[one.at[step]] || "–" : digits(one.line[step], one.places);
    return one.unit && text !== "–" ? `${text}\u202f${one.unit}` : text;
  }
}

function play({ cells, values, ends }, now, from, to) {
  for (let i = from < 0 ? 0 : ends[from], end = ends[to]; i < end; i++) now[cells[i]] = values[i];
}
