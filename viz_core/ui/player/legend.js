// The legend's entries: what a reader must know to read the cells of this trace, and no more.

import { STATES } from "./cells.js";
import { middle } from "./text.js";

const ROOM = 14; // of a name

// What the legend explains: named hues, then the states and marks that occur in this trace.
export function legend(film) {
  const { header } = film;
  const words = header.player;
  const hues = header.hues.map(([hue, letter, name]) => ({ text: middle(name, ROOM), look: { state: 2, hue, text: letter } }));
  const plane = (name) => film.planes.find((one) => one.name === name);
  const states = plane("state") ? new Set(plane("state").values) : new Set();
  if (plane("state") && film.seek(0).state.includes(0)) states.add(0);
  const marks = [...states].filter((state) => STATES[state]).sort((a, b) => a - b)
    .map((state) => ({ text: header.words[state] || words.state[STATES[state]], look: { state, hue: 0, text: "" } }));
  if (plane("ref") && plane("ref").values.some((refs) => refs > 1)) marks.push({ text: words.shared, look: { state: 2, hue: 0, text: "×2" } });
  if (plane("shade")) marks.push({ text: words.shade, look: { state: 2, hue: 0, text: "", shade: 200 } });
  if (plane("hashed")) marks.push({ text: words.hashed, look: { state: 2, hue: 0, text: "", hashed: 1 } });
  if (plane("fill")) marks.push({ text: words.partial, look: { state: 2, hue: 0, text: "", part: 0.6 } });
  return [...hues, ...marks];
}
