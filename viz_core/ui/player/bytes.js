// The bytes of a trace (viz_core/trace_codec.py describes them): the front, the film's header, its arrays.

const ARRAYS = {
  u1: Uint8Array, i1: Int8Array, u2: Uint16Array, i2: Int16Array, u4: Uint32Array, i4: Int32Array, f8: Float64Array,
};

// JSON behind its length, and what follows it.
export function parted(bytes) {
  const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(4, start))), bytes.subarray(start)];
}

// The bytes of a zlib stream, as a promise.
export async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The arrays in a body. `slice` copies, so that an array may start at any byte.
export function typed(index, body) {
  let at = 0;
  return index.map(([kind, count, apart]) => {
    const size = count * ARRAYS[kind].BYTES_PER_ELEMENT;
    at += size;
    const raw = new ARRAYS[kind](body.slice(at - size, at).buffer);
    return apart ? sums(raw) : raw;
  });
}

// The sum of all numbers up to each.
function sums(numbers) {
  const out = new Float64Array(numbers.length);
  let sum = 0;
  numbers.forEach((number, i) => { out[i] = sum += number; });
  return out;
}
