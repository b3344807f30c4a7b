// The planes of a film, from the list of changes that they share (viz_core/trace_deltas.py describes it).

// One plane while it is unrolled: the cells that change, their new values, and where each step ends.
class Plane {
  constructor(name, { rising }, raw, steps, size) {
    Object.assign(this, { name, raw, n: 0, now: rising ? new Uint32Array(size) : null });
    this.cells = new Uint32Array(raw.length);
    this.values = new Uint32Array(raw.length);
    this.ends = new Uint32Array(steps);
  }

  add(cell) {
    const value = this.raw[this.n] + (this.now ? this.now[cell] : 0);
    if (this.now) this.now[cell] = value;
    this.cells[this.n] = cell;
    this.values[this.n++] = value;
  }
}

// All planes, in the order of the header.
export function unroll(header, arrays) {
  const { steps, cells: size } = header;
  const entries = Object.entries(header.planes);
  const own = entries.filter(([, entry]) => !entry.like)
    .map(([name, entry]) => new Plane(name, entry, arrays[entry.values], steps, size));
  fill(own, header.changes.map((i) => arrays[i]), steps, size);
  const known = Object.fromEntries(own.map((plane) => [plane.name, plane]));
  for (const [name, { like, table }] of entries.filter(([, entry]) => entry.like)) {
    known[name] = { ...known[like], name, values: known[like].values.map((value) => arrays[table][value]) };
  }
  return entries.map(([name]) => known[name]);
}

// Each cell's set of changing planes follows from its last one, but for the exceptions.
function fill(planes, [sets, after, counts, cells, which], steps, size) {
  const touched = Array.from(sets, (set) => planes.filter((_, bit) => (set >> bit) & 1));
  const now = new Uint16Array(size);
  const listed = new Uint8Array(size);
  let active = [];
  for (let step = 0, at = 0; step < steps; step++) {
    for (const cell of active) now[cell] = after[now[cell]];
    const before = active.length;
    for (const end = at + counts[step]; at < end; at++) {
      now[cells[at]] = which[at];
      if (!listed[cells[at]]) active.push(cells[at]);
      listed[cells[at]] = 1;
    }
    if (active.length > before) active.sort((a, b) => a - b);
    for (const cell of active) {
      listed[cell] = now[cell] && 1;
      for (const plane of touched[now[cell]]) plane.add(cell);
    }
    active = active.filter((cell) => now[cell]);
    for (const plane of planes) plane.ends[step] = plane.n;
  }
}
