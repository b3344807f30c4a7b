// Where everything stands, in real pixels for the width at hand; nothing here touches the page.

const SIZES = [60, 52, 48, 44, 40, 36, 32, 30, 28, 24, 20, 17, 14, 12, 10, 9];
const ONE_LINE = SIZES.slice(0, 9); // sizes at which a lane is kept on one line
const MOST_DRAWN = 4096; // cells drawn; more are drawn as buckets of neighbours
const BESIDE = 700; // from this width on the series stand beside the cells
const ROW = 22; // a line of text
const EDGE = 3; // room for a thick outline

// Width of a text in units of its type size: a Hanzi is 1, Latin about 0.53.
export function measure(text) {
  let sum = 0;
  for (const char of text) sum += char.codePointAt(0) > 0x2e7f ? 1 : /[\u0300-\u036f\u200b-\u200f]/.test(char) ? 0 : 0.53;
  return sum;
}

const widest = (texts) => texts.reduce((most, text) => Math.max(most, measure(text)), 0);

// A lane's cells as they will be drawn: buckets of `run` cells (of run × run in a grid).
function buckets(lane, run) {
  const columns = lane.columns ? Math.ceil(lane.columns / run) : 0;
  const rows = lane.columns ? Math.ceil(lane.count / lane.columns / run) : 0;
  const rest = lane.count - (rows - 1) * run * lane.columns; // cells in the last line of buckets
  return { lane, run, columns, count: columns ? (rows - 1) * columns + Math.min(columns, Math.ceil(rest / run)) : Math.ceil(lane.count / run) };
}

// Which bucket of its lane a cell (counted within the lane) falls in.
export function bucketOf({ lane, run, columns }, cell) {
  if (!lane.columns) return Math.floor(cell / run);
  const row = Math.floor(cell / lane.columns);
  return Math.floor(row / run) * columns + Math.floor((cell - row * lane.columns) / run);
}

function grouped(lanes, most, room, em) {
  const least = (lane) => 2 ** Math.max(0, Math.ceil(Math.log2((lane.columns * 11 * em) / room || 1)));
  for (let run = 1; ; run *= 2) {
    const drawn = lanes.map((lane) => buckets(lane, Math.max(least(lane), lane.count > 256 ? run : 1)));
    if (run > 32768 || drawn.reduce((sum, one) => sum + one.count, 0) <= most) return drawn;
  }
}

const gapOf = (size) => (size >= 28 ? 6 : size >= 17 ? 3 : 2);

// One lane at one cell size: how many columns, how many lines, how high.
function fit(one, size, room, em) {
  const { lane } = one;
  const gap = gapOf(size);
  const texts = one.run === 1 ? Math.max(widest(lane.labels), widest(lane.under), one.reach) : 0;
  const needed = size >= 28 && texts ? Math.min(texts * 14 * em + 12, 96 * em) : 0;
  const names = one.columns && size >= 17 ? widest(lane.rowNames) * 14 * em + (lane.rowNames.length ? 10 : 0) : 0;
  const w = Math.max(size * em, one.columns ? 0 : needed);
  const h = size * em;
  const columns = one.columns || Math.max(1, Math.min(one.count, Math.floor((room + gap) / (w + gap))));
  const lines = Math.ceil(one.count / columns);
  const under = lane.under.length && one.run === 1 && size >= 24 ? 18 * em : 0;
  const top = one.columns && lane.columnNames.length && size >= 17 ? 20 * em : 0;
  const over = columns * (w + gap) - gap + names > room + 0.5;
  return { ...one, em, size, w, h, gap, columns, lines, under, top, names, over, high: top + lines * (h + gap + under) - gap };
}

// The largest size at which each lane fits: one line where it can, else whatever keeps the figure low.
function sized(drawn, room, tall, em) {
  const single = drawn.map((one) => !one.columns && ONE_LINE.some((s) => fit(one, s, room, em).lines === 1));
  const singles = (s) => drawn.filter((_, i) => single[i]).map((one) => fit(one, s, room, em));
  const low = (all) => all.every((one) => one.lines === 1) && all.reduce((sum, one) => sum + one.high + 14 * em, 0) <= tall;
  const common = ONE_LINE.find((s) => low(singles(s))) || 28;
  const fixed = drawn.map((one, i) => (single[i] ? fit(one, common, room, em) : null));
  let left = tall - fixed.reduce((sum, one) => sum + (one ? one.high + 14 : 0), 0);
  const many = fixed.filter((one) => !one).length;
  return drawn.map((one, i) => fixed[i] || largest(one, room, Math.max(left / many, 160 * em), em, common));
}

function largest(one, room, tall, em, common) {
  const tries = SIZES.filter((s) => one.columns || s <= common).map((s) => fit(one, s, room, em));
  return tries.find((t) => !t.over && t.high <= tall) || tries[tries.length - 1];
}

const reach = (header, lane) => (lane.columns ? 0 : widest(header.texts));

// The width that the lanes' names take at the left; 0 where they stand above their cells instead.
function margin(header, room, em) {
  const names = Math.ceil(widest(header.lanes.map((lane) => lane.label)) * 14 * em) + 16;
  const slim = header.lanes.every((lane) => {
    const tried = fit({ ...buckets(lane, 1), reach: reach(header, lane) }, lane.columns ? 17 : 32, room - names, em);
    return lane.columns ? !tried.over : tried.lines === 1;
  });
  return (room >= 560 * em && names <= room * 0.4) || (slim && names <= room * 0.36) ? names : 0;
}

// The whole figure. `em` scales with the reader's type size; `tall` is the height to aim at for the cells.
export function layout(header, width, { em = 1, tall = 0, legend = [] } = {}) {
  const aim = (tall || (width < 560 * em ? 300 : 400)) * em;
  const beside = width >= BESIDE * em && header.series.length > 0;
  const side = beside ? Math.min(Math.max(width * 0.31, 210 * em), 360 * em) : 0;
  const room = width - (side ? side + 36 * em : 0) - 2 * EDGE;
  const left = margin(header, room, em);
  const most = Math.max(64, Math.min(MOST_DRAWN, Math.floor((room * aim) / (100 * em * em))));
  const drawn = grouped(header.lanes, most, room - left, em).map((one) => ({ ...one, reach: reach(header, one.lane) }));
  const lanes = placed(sized(drawn, room - left, aim, em), left, em);
  const cells = lanes.length ? lanes[lanes.length - 1].bottom : 0;
  const key = flow(legend, width < 560 * em ? 0 : left, room, cells + 18 * em, em);
  const used = Math.max(...lanes.map((lane) => lane.x + lane.columns * (lane.w + lane.gap)));
  const wide = Math.max(side, Math.min(width - used - 48 * em, width * 0.42));
  const series = charts(header.series.length, { beside, side: wide, width, top: beside ? 0 : key.bottom + 10 * em, low: key.bottom, em });
  return { width, height: Math.ceil(Math.max(key.bottom, series.bottom)) + 2, left, lanes, legend: key.items, series };
}

function placed(lanes, left, em) {
  let y = EDGE;
  return lanes.map((lane) => {
    const head = left ? 0 : ROW * em;
    const top = y + head + lane.top;
    const out = { ...lane, x: left + lane.names + EDGE, y: top, labelY: left ? top + lane.h / 2 : y + 10 * em, bottom: y + head + lane.high };
    y = out.bottom + (lane.size < 28 ? 16 : 14) * em;
    return out;
  });
}

// Where drawn cell `i` of a placed lane stands.
export function spot(lane, i) {
  const line = Math.floor(i / lane.columns);
  return [lane.x + (i - line * lane.columns) * (lane.w + lane.gap), lane.y + line * (lane.h + lane.gap + lane.under)];
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

// One small chart a series: beside the cells one below the other, under them in one or two columns.
function charts(count, { beside, side, width, top, low, em }) {
  if (!count) return { rows: [], bottom: 0 };
  const across = beside ? 1 : count > 2 || width >= 520 * em ? 2 : 1;
  const lines = Math.ceil(count / across);
  const pitch = beside ? Math.min(Math.max(low / lines, 62 * em), 96 * em) : 64 * em;
  const gap = 24 * em;
  const wide = beside ? side : (width - gap * (across - 1)) / across;
  const rows = Array.from({ length: count }, (_, i) => ({
    x: (beside ? width - side : (i % across) * (wide + gap)), y: top + Math.floor(i / across) * pitch,
    w: wide - 2, text: 18 * em, h: pitch - 18 * em - 16 * em,
  }));
  return { rows, bottom: top + lines * pitch };
}
