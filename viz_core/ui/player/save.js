// Saves the frame on the screen as a self-contained SVG: colours, type and caption resolved, nothing to load.

import { node } from "./cells.js";
import { wrap } from "./text.js";

const KEPT = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "opacity", "font-family",
  "font-size", "font-weight", "text-anchor", "dominant-baseline", "font-variant-numeric", "paint-order", "display",
];
const MARGIN = 16;
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g; // a token may be a control character

// The drawing as text, on the paper of the page, with its caption below.
export function frozen(svg, caption) {
  const copy = svg.cloneNode(true);
  const [originals, copies] = [svg, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    copies[i].removeAttribute("class");
    copies[i].setAttribute("style", KEPT.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  const [width, height] = ["width", "height"].map((name) => Number(svg.getAttribute(name)));
  const lines = wrap(caption, (width - 4) / 16);
  const out = node("svg", { width: width + 2 * MARGIN, height: height + 24 * lines.length + 3 * MARGIN });
  out.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const style = getComputedStyle(svg);
  node("rect", { width: "100%", height: "100%", fill: style.getPropertyValue("background-color") }, out);
  node("g", { transform: `translate(${MARGIN} ${MARGIN})` }, out).append(copy);
  lines.forEach((line, i) => node("text", {
    x: MARGIN, y: height + 2 * MARGIN + 14 + 24 * i, fill: style.color, "font-family": style.fontFamily, "font-size": 16,
  }, out, line));
  return new XMLSerializer().serializeToString(out).replace(NOT_XML, "\ufffd");
}

export function save(svg, caption, header, step) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([frozen(svg, caption)], { type: "image/svg+xml" }));
  link.download = `infersight-${String(step + 1).padStart(String(header.steps).length, "0")}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
