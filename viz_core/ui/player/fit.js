// How large a lane's cells are, how they wrap, and how many neighbours share a bucket.

import { middle, widest } from "./text.js";

const SIZES = [60, 52, 48, 44, 40, 36, 32, 30, 28, 24, 20, 17, 14, 12, 10, 9];
const SMALLEST_ROW = 28; // the least size of a lane that is kept on one line
const TOKEN_ROW = SIZES.filter((size) => size >= SMALLEST_ROW);
export const GAP = 14; // between lanes
const FOLD = 18; // between the stacks of a folded grid
export const HEAD = 22; // a name above its lane

const WORDS = 64; // a lane of no more cells with words in them keeps them readable

// The type size in a cell.
export const typeOf = (size) => (size >= 52 ? 18 : size >= 36 ? 16 : size >= 24 ? 14 : 12);
const gapOf = (size) => (size >= 28 ? 6 : size >= 17 ? 3 : 2);

// A lane of one column with names is a list: a mark before each line of text.
export const listed = (lane) => lane.columns === 1 && lane.rowNames.length > 0 && !lane.folded;

// Names of rows and below cells as they are drawn; the line on a cell has them whole.
export const rowName = (name) => middle(name, 9);
export const underName = (name) => middle(name, 7);

// A lane's cells as they will be drawn: buckets of `run` cells (of run × run in a grid).
export function buckets(lane, run) {
  const columns = lane.columns ? Math.ceil(lane.columns / run) : 0;
  const rows = lane.columns ? Math.ceil(lane.count / lane.columns / run) : 0;
  const rest = lane.count - (rows - 1) * run * lane.columns; // cells in the last line of buckets
  const last = Math.min(columns, Math.ceil(rest / run));
  return { lane, run, columns, count: columns ? (rows - 1) * columns + last : Math.ceil(lane.count / run) };
}

// Which bucket of its lane a cell (counted within the lane) falls in.
export function bucketOf({ lane, run, columns }, cell) {
  if (!lane.columns) return Math.floor(cell / run);
  const row = Math.floor(cell / lane.columns);
  return Math.floor(row / run) * columns + Math.floor((cell - row * lane.columns) / run);
}

// All lanes in at most `most` drawn cells; only long lanes are put in buckets, and grids too wide for the room.
export function grouped(lanes, most, room, em) {
  const least = (lane) => 2 ** Math.max(0, Math.ceil(Math.log2((lane.columns * 11 * em) / room || 1)));
  for (let run = 1; ; run *= 2) {
    const drawn = lanes.map((lane) => buckets(lane, Math.max(least(lane), lane.count > 256 && !lane.bars ? run : 1)));
    if (run > 32768 || drawn.reduce((sum, one) => sum + one.count, 0) <= most) return drawn;
  }
}

// One lane at one cell size: how many columns, how many lines, how high. `reach` is the widest text it may show.
export function fit(one, size, room, em) {
  const { lane } = one;
  if (listed(lane)) return list(one, room, em);
  if (lane.bars) return plot(one, room, em);
  const gap = gapOf(size);
  const texts = one.run === 1 ? Math.max(widest(lane.labels), widest(lane.under.map(underName)), one.reach) : 0;
  const flows = !one.columns || lane.folded;
  const names = one.columns && size >= 17 && lane.rowNames.length ? widest(lane.rowNames.map(rowName)) * 14 * em + 10 : 0;
  const free = lane.folded ? (room - names + gap) / one.columns - gap : room;
  const needed = size >= 28 && texts && flows ? Math.min(texts * typeOf(size) * em + 12, 104 * em, free) : 0;
  const [w, h] = [Math.max(size * em, needed), size * em];
  const columns = one.columns || Math.max(1, Math.min(one.count, Math.floor((room + gap) / (w + gap))));
  const [rows, wide] = [Math.ceil(one.count / columns), columns * (w + gap) - gap + names];
  const fold = wide + FOLD * em; // from one stack of rows to the next
  const lines = Math.ceil(rows / (lane.folded ? Math.max(1, Math.floor((room + FOLD * em) / fold)) : 1));
  const under = lane.under.length && one.run === 1 && size >= 24 ? 18 * em : 0;
  const top = one.columns && lane.columnNames.length && size >= 17 ? 20 * em : 0;
  const over = wide > room + 0.5;
  return { ...one, em, size, w, h, gap, columns, lines, fold, folds: Math.ceil(rows / lines), under, top, names, over, high: top + lines * (h + gap + under) - gap };
}

function list(one, room, em) {
  const [h, gap] = [16 * em, 8 * em];
  const over = h + 10 * em + widest(one.lane.rowNames) * 14 * em > room;
  return { ...one, em, size: 16, w: h, h, gap, columns: 1, lines: one.count, fold: 0, folds: 1, under: 0, top: 0, names: 0, over, high: one.count * (h + gap) - gap };
}

// A histogram takes the whole width; a phone has less height for it.
function plot(one, room, em) {
  const h = one.lane.bars.tall * em * (room < 560 * em ? 0.8 : 1);
  return { ...one, em, size: 60, w: room, h, gap: 0, columns: 1, lines: 1, fold: 0, folds: 1, under: 0, top: 0, names: 0, over: false, high: h };
}

// Every lane at its size, with a `head` above each: all alike if that fits the height, else short lanes alike and long
// ones in what is left.
export function sized(drawn, room, tall, em, head) {
  const all = (size, some = drawn) => some.map((one) => fit(one, size, room, em));
  const high = (lanes) => lanes.reduce((sum, lane) => sum + lane.high + (GAP + head) * em, 0);
  const short = drawn.filter((one) => !one.columns && fit(one, SMALLEST_ROW, room, em).lines === 1);
  const rows = TOKEN_ROW.filter((size) => all(size, short).every((lane) => lane.lines === 1));
  const alike = rows.find((size) => all(size).every((lane) => !lane.over) && high(all(size)) <= tall);
  if (alike) return all(alike);
  const long = drawn.filter((one) => !short.includes(one));
  const share = tall * (long.length ? 0.45 : 1);
  const common = rows.find((size) => high(all(size, short)) <= share) || SMALLEST_ROW;
  const left = (tall - high(all(common, short))) / long.length;
  const sizes = new Map(long.map((one) => [one, largest(one, room, Math.max(left, 160 * em), em)]));
  const most = Math.max(36, ...[...sizes.values()].map((lane) => lane.size)); // no short lane outgrows the long ones
  return drawn.map((one) => sizes.get(one) || fit(one, long.length ? Math.min(common, most) : common, room, em));
}

// The largest size at which a lane is no higher than `tall`.
function largest(one, room, tall, em) {
  const wordy = one.count <= (one.lane.folded ? 4 : 1) * WORDS && Math.max(widest(one.lane.labels), one.reach) > 1.2;
  const tries = (wordy ? TOKEN_ROW : SIZES).map((size) => fit(one, size, room, em));
  return tries.find((lane) => !lane.over && lane.high <= tall) || tries.at(-1);
}
