// Where everything stands, in real pixels for the width at hand; nothing here touches the page.

import { GAP, HEAD, buckets, fit, grouped, sized } from "./fit.js";
import { measure, widest, wrap } from "./text.js";

const MOST_DRAWN = 4096; // cells drawn; more are drawn as buckets of neighbours
const BESIDE = 700; // from this width on the series stand beside the cells
const PHONE = 560; // below it names stand above their lanes unless they are short
const EDGE = 3; // room for a thick outline
const NAME = 9.5; // a lane's name at the left breaks after so many Hanzi
const LINE = 18; // of a lane's name

const reach = (header, lane) => (lane.columns && !lane.folded ? 0 : widest(header.texts));

// The width that the lanes' names take at the left; 0 where they stand above their cells instead.
function margin(header, room, em) {
  if (header.lanes.some((lane) => lane.bars)) return 0;
  const lines = header.lanes.flatMap((lane) => wrap(lane.label, NAME));
  const names = Math.ceil(widest(lines) * 14 * em) + 16;
  const slim = header.lanes.every((lane) => {
    const tried = fit({ ...buckets(lane, 1), reach: reach(header, lane) }, lane.columns ? 17 : 32, room - names, em);
    return lane.columns ? !tried.over : tried.lines === 1;
  });
  return room >= PHONE * em || (slim && names <= room * 0.36) ? names : 0;
}

// The whole figure. `em` scales with the reader's type size; `tall` is the height to aim at for the cells,
// `number` the room for the longest number of a series.
export function layout(header, width, { em = 1, tall = 0, legend = [], number = 64 } = {}) {
  const phone = width < PHONE * em;
  const aim = (tall || (phone ? 290 : 420)) * em;
  const maps = header.lanes.filter((lane) => lane.history);
  const beside = width >= BESIDE * em && header.series.length + maps.length > 0;
  const side = beside ? Math.min(Math.max(width * 0.31, 210 * em), 360 * em) : 0;
  const room = width - (side ? side + 36 * em : 0) - 2 * EDGE;
  const left = margin(header, room, em);
  const most = Math.max(64, Math.min(MOST_DRAWN, Math.floor((room * aim) / (100 * em * em))));
  const drawn = grouped(header.lanes, most, room - left, em).map((one) => ({ ...one, reach: reach(header, one.lane) }));
  const lanes = placed(sized(drawn, room - left, aim, em, left ? 0 : HEAD), left, em);
  const used = Math.max(...lanes.map((lane) => lane.x + (lane.folds - 1) * lane.fold + lane.columns * (lane.w + lane.gap)));
  const wide = Math.max(side, Math.min(width - used - 48 * em, width * 0.42));
  const free = beside ? width - wide - 36 * em : width;
  const key = flow(legend, phone ? 0 : left, free, lanes.at(-1).bottom + 18 * em, em);
  const top = beside ? 0 : key.bottom + 10 * em;
  const series = charts({ maps, series: header.series.length, beside, side: wide, width, top, low: key.bottom, number: number * em, em });
  return { width, height: Math.ceil(Math.max(key.bottom, series.bottom)) + 2, left, lanes, legend: key.items, series };
}

// Lanes from top to bottom, each with its name: at the left in lines, or above its cells.
function placed(lanes, left, em) {
  let y = EDGE;
  return lanes.map((lane) => {
    const name = left ? wrap(lane.lane.label, NAME) : [lane.lane.label];
    const head = left ? 0 : HEAD * em;
    const top = y + head + lane.top;
    const middle = left ? top + Math.max(lane.h, name.length * LINE * em) / 2 : y + 10 * em;
    const labelY = middle - ((name.length - 1) * LINE * em) / 2;
    const bottom = y + head + Math.max(lane.high, left ? lane.top + name.length * LINE * em : 0);
    y = bottom + GAP * em;
    return { ...lane, x: left + lane.names + EDGE, y: top, name, line: LINE * em, labelY, bottom };
  });
}

// Where drawn cell `i` of a placed lane stands.
export function spot(lane, i) {
  const row = Math.floor(i / lane.columns);
  const [stack, line] = [Math.floor(row / lane.lines), row % lane.lines];
  const x = lane.x + stack * lane.fold + (i - row * lane.columns) * (lane.w + lane.gap);
  return [x, lane.y + line * (lane.h + lane.gap + lane.under)];
}

// Legend entries, one after the other, wrapped.
function flow(entries, left, room, top, em) {
  let [x, y] = [left + EDGE, top];
  const items = entries.map((entry) => {
    const wide = (26 + measure(entry.text) * 14 + 16) * em;
    if (x > left + EDGE && x + wide > room) [x, y] = [left + EDGE, y + 24 * em];
    const item = { ...entry, x, y };
    x += wide;
    return item;
  });
  return { items, bottom: entries.length ? y + 22 * em : top - 18 * em };
}

// Maps and series: beside the cells one below the other, under them in full width; series in two columns where they have
// the room, or on a phone a line each. All of a column start and end alike, so that a step stands at one place.
function charts({ maps, series, beside, side, width, top, low, number, em }) {
  const [x, w] = beside ? [width - side, side - 2] : [0, width - 2];
  const text = 22 * em;
  let y = top;
  const rows = maps.map(({ count }) => {
    const h = Math.min(Math.max(count * 9, 54), 140) * em;
    const row = { x, y, w, text, h, em };
    y += text + h + 14 * em;
    return row;
  });
  if (!beside && width < PHONE * em) return lines(rows, { series, w, y, number, em });
  const across = beside || series < 2 ? 1 : 2;
  const wide = beside ? w : (w - 24 * em * (across - 1)) / across;
  const high = Math.ceil(series / across);
  const pitch = beside ? Math.min(Math.max((low - y) / (high || 1), 62 * em), 96 * em) : 64 * em;
  for (let i = 0; i < series; i++) {
    const at = x + (i % across) * (wide + 24 * em);
    rows.push({ x: at, y: y + Math.floor(i / across) * pitch, w: wide, text, h: pitch - 36 * em, em });
  }
  return { rows, bottom: rows.length ? y + high * pitch : 0 };
}

// A series a line: its name, a small figure, its number.
function lines(rows, { series, w, y, number, em }) {
  const pitch = 30 * em;
  for (let i = 0; i < series; i++) {
    const span = Math.min(w * 0.28, 110 * em);
    rows.push({ x: 0, y: y + i * pitch, w, text: 0, h: 20 * em, em, left: w - number - span, span });
  }
  return { rows, bottom: rows.length ? y + series * pitch : 0 };
}
