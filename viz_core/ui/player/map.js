// A lane over all steps: time to the right as in the series, its cells downwards, each in the hue of its owner.
// A cell that several hold is grey, as in its lane. What comes after the step is left out, for a reader who is asked to predict it.

import { HELD, SOLID, node, owner } from "./cells.js";
import { Timed } from "./lines.js";
import { cut } from "./text.js";

export const SHARED = 0xffff; // stands for a hue where several hold a cell

// For every hue the path of the boxes it fills: runs of steps in which a row keeps its hue.
export function paths(film, lane, rows, columns, box) {
  const out = new Map();
  const open = new Int32Array(rows).fill(-1); // where the row's run began
  const hue = new Uint32Array(rows);
  const [states, refs] = [film.replay("state"), film.replay("ref")];
  let column = 0;
  const close = (row, end) => {
    if (hue[row]) out.set(hue[row], (out.get(hue[row]) || "") + box(open[row], end, row));
  };
  let step = 0;
  for (const hues of film.replay("hue")) {
    const [now, held] = [states.next().value, refs.next().value];
    step += 1;
    if (step * columns < (column + 1) * film.steps) continue; // not yet the last step of this column
    for (let row = 0; row < rows; row++) {
      const who = shown(lane, row, rows, hues, now, held);
      if (who === hue[row]) continue;
      close(row, column);
      [hue[row], open[row]] = [who, column];
    }
    column += 1;
  }
  for (let row = 0; row < rows; row++) close(row, columns);
  return out;
}

// The hue of a row: of its first cell in use, where several cells share the row.
function shown(lane, row, rows, hues, states, refs) {
  const end = Math.ceil(((row + 1) * lane.count) / rows);
  for (let k = Math.floor((row * lane.count) / rows); k < end; k++) {
    const cell = lane.first + k;
    if (hues && hues[cell] && SOLID.includes(states ? states[cell] : HELD)) return owner(hues[cell], refs ? refs[cell] : 0) || SHARED;
  }
  return 0;
}

export class History extends Timed {
  constructor(parent, film, lane, place) {
    super(parent, film, place);
    const { w, h, em } = place;
    node("text", { class: "name", x: 4, y: 11 * em }, this.g, cut(place.name, (w - 8) / (14 * em)));
    const plot = this.plot();
    const rows = Math.min(lane.count, Math.floor(h / 2));
    const columns = Math.min(film.steps, Math.floor(w - 8));
    const edge = (c) => Math.min(w - 4, Math.max(4, this.x((c * film.steps) / columns - 0.5)));
    const [high, gap] = [h / rows, h / rows > 5 ? 1 : 0];
    const box = (from, to, row) =>
      `M${edge(from).toFixed(1)} ${(row * high).toFixed(2)}H${edge(to).toFixed(1)}v${(high - gap).toFixed(2)}H${edge(from).toFixed(1)}Z`;
    node("path", { class: "frame", d: `M4 0H${w - 4}V${h}H4Z` }, plot);
    this.past = node("svg", { width: 0, height: h, class: "fill" }, plot);
    for (const [hue, d] of paths(film, lane, rows, columns, box)) node("path", { class: `owned h${hue === SHARED ? 0 : ((hue - 1) % 6) + 1}`, d }, this.past);
    this.cursor = node("path", { class: "now", d: `M0 -3V${h + 3}` }, plot);
  }

  draw(step) {
    this.cursor.setAttribute("transform", `translate(${this.x(step)} 0)`);
    this.past.setAttribute("width", this.x(Math.min(step + 0.5, this.film.steps - 1)));
  }
}
