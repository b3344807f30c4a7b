// The reader's hand: clicks, keys and the pointer become calls on the player.

import { asked, marks } from "./controls.js";

export function listen(player) {
  const { root, parts } = player;
  for (const button of parts.buttons) button.onclick = () => player.act(button.dataset.do);
  parts.range.oninput = () => player.jump(Number(parts.range.value));
  parts.speed.onchange = () => { player.speed = Number(parts.speed.value); };
  parts.kinds.onchange = () => marks(parts, player.film);
  root.onkeydown = (press) => {
    const what = asked(press, parts);
    if (!what) return;
    press.preventDefault();
    press.stopPropagation();
    player.act(what);
  };
  parts.figure.onpointermove = (move) => over(player, move.target);
  parts.figure.onpointerdown = (down) => over(player, down.target);
  parts.figure.onpointerleave = (leave) => leave.pointerType === "mouse" && player.aim(null);
  parts.figure.onclick = (click) => {
    const step = player.figure.charts.map((chart) => chart.stepAt(click)).find((at) => at !== null);
    if (step !== undefined) player.jump(step);
    else if (player.figure.pointed) player.zoom(player.figure.pointed);
  };
}

// The drawn cell under the pointer, as [lane, cell].
function over(player, target) {
  const cell = target.closest("[data-cell]");
  const pointed = cell ? [Number(cell.dataset.lane), Number(cell.dataset.cell)] : null;
  if (String(pointed) !== String(player.figure.pointed)) player.aim(pointed);
}

// The drawn cell before (way -1) or after (+1) the one pointed at, through all lanes.
export function neighbour(figure, way) {
  const all = figure.views.flatMap((view, lane) => view.cells.map((_, i) => [lane, i]));
  const at = all.findIndex((one) => String(one) === String(figure.pointed));
  return all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + way))];
}
