// Which cells of the trace a drawn cell stands for, and lanes that show a part of another.

// The cell in place `k` of a lane; a lane that shows a part of another lists its cells.
export const id = (lane, k) => (lane.ids ? lane.ids[k] : lane.first + k);

// The places of a grid in the square of `side` at a row and column, as far as the grid goes.
function square(lane, row, column, side) {
  const out = [];
  for (let r = row; r < row + side; r++) {
    for (let c = column; c < Math.min(column + side, lane.columns); c++) {
      if (r * lane.columns + c < lane.count) out.push(r * lane.columns + c);
    }
  }
  return out;
}

// A lane of the cells around bucket `i`: 256 in a row, or 16 × 16.
export function part({ lane, run, columns }, i) {
  const side = 16;
  const start = (at, step) => Math.floor((at * run) / step) * step;
  const row = lane.columns ? start(Math.floor(i / columns), side) : 0;
  const column = lane.columns ? start(i % columns, side) : 0;
  const first = start(i, side * side);
  const places = lane.columns
    ? square(lane, row, column, side)
    : Array.from({ length: Math.min(side * side, lane.count - first) }, (_, k) => first + k);
  const pick = (list) => (list.length ? places.map((k) => list[k]) : list);
  return {
    ...lane, ids: places.map((k) => id(lane, k)), count: places.length, columns: lane.columns && Math.min(side, lane.columns - column),
    labels: pick(lane.labels), under: pick(lane.under), keys: pick(lane.keys),
    rowNames: lane.rowNames.slice(row, row + side), columnNames: lane.columnNames.slice(column, column + side),
  };
}

// The places in its lane that drawn cell `i` of a placed lane stands for.
export function members({ lane, run, columns }, i) {
  if (run === 1) return [i];
  if (!lane.columns) return Array.from({ length: Math.min(run, lane.count - i * run) }, (_, k) => i * run + k);
  return square(lane, Math.floor(i / columns) * run, (i % columns) * run, run);
}
