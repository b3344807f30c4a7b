// The player bar: buttons, range, speed, events; what a reader's hand or key asks for becomes a call on the player.

import { digits } from "./film.js";

const ICONS = {
  first: "M5 4v16M19 5 9 12l10 7Z", back: "M17 5 7 12l10 7Z", play: "M7 4.5 19 12 7 19.5Z",
  pause: "M7.5 5v14M16.5 5v14", forward: "M7 5l10 7-10 7Z", last: "M19 4v16M5 5l10 7-10 7Z",
  whole: "M9 4H4v5M15 4h5v5M9 20H4v-5M15 20h5v-5", event_back: "M14 6l-6 6 6 6", event_forward: "M10 6l6 6-6 6", save: "M12 4v11M7 11l5 5 5-5M5 20h14",
};
const SPEEDS = [0.5, 1, 2, 4, 8, 16, 30, 60, 600, 6000, 60000]; // steps a second; 60 = one a frame

const icon = (name) => `<svg viewBox="0 0 24 24" aria-hidden="true" class="icon ${name}"><path d="${ICONS[name]}"/></svg>`;

const SKELETON = `
<div class="figure" tabindex="0" role="group"><svg class="drawing"></svg></div>
<p class="detail" aria-live="polite"></p>
<div class="foot"><div class="bar">
  <div class="buttons">${["first", "back", "play", "forward", "last"].map((name) =>
    `<button type="button" data-do="${name}">${icon(name)}</button>`).join("")}</div>
  <div class="scrub"><svg class="marks" aria-hidden="true"></svg><input type="range" min="0" step="1"></div>
  <output class="count"></output>
  <select class="speed"></select>
  <span class="jump" hidden><button type="button" data-do="event_back">${icon("event_back")}</button>
    <select class="kinds"></select><button type="button" data-do="event_forward">${icon("event_forward")}</button></span>
  <button type="button" data-do="whole" hidden>${icon("whole")}</button>
  <button type="button" data-do="save">${icon("save")}</button>
</div>
<p class="caption"></p></div>`;

export function skeleton(root) {
  root.innerHTML = SKELETON;
  const one = (selector) => root.querySelector(selector);
  return {
    figure: one(".figure"), svg: one(".drawing"), detail: one(".detail"), range: one("input"), count: one(".count"),
    speed: one(".speed"), jump: one(".jump"), kinds: one(".kinds"), marks: one(".marks"), caption: one(".caption"),
    play: one('[data-do="play"]'), whole: one('[data-do="whole"]'), buttons: [...root.querySelectorAll("button")],
  };
}

// The speeds that make sense for a number of steps: slow ones always, fast ones while a run takes over a second.
export const speeds = (steps) => SPEEDS.filter((speed) => speed <= 4 || steps / speed > 1.5);

// At first a run takes a minute at most.
export const usual = (steps) => speeds(steps).find((speed) => speed >= 1 && steps / speed <= 60) || speeds(steps).at(-1);

const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });

// Put a film's words, steps, speeds and events into the bar.
export function label(parts, film, speed) {
  const words = film.header.player;
  for (const button of parts.buttons) name(button, words[button.dataset.do]);
  parts.figure.setAttribute("aria-label", [film.header.title, words.figure].filter(Boolean).join(" · "));
  parts.range.max = film.steps - 1;
  parts.range.disabled = film.steps === 1;
  parts.range.setAttribute("aria-label", words.step);
  parts.speed.setAttribute("aria-label", words.speed);
  parts.speed.replaceChildren(...speeds(film.steps).map((s) =>
    option(s, s <= 60 ? `${s}×` : words.a_frame.replace("{n}", digits(s / 60, 0)))));
  parts.speed.value = speed;
  parts.jump.hidden = !film.events.length;
  parts.kinds.setAttribute("aria-label", words.events);
  parts.kinds.replaceChildren(option(-1, words.any_event), ...film.events.map(({ kind }, i) => option(i, kind)));
}

function name(button, words) {
  button.title = words;
  button.setAttribute("aria-label", words);
}

// Show whether it plays.
export function playing(parts, film, on) {
  parts.play.innerHTML = icon(on ? "pause" : "play");
  name(parts.play, film.header.player[on ? "pause" : "play"]);
  parts.caption.setAttribute("aria-live", on ? "off" : "polite");
}

// Ticks above the range where the chosen kind of event happened, at most one a pixel.
export function marks(parts, film) {
  const width = parts.marks.clientWidth;
  const x = (step) => Math.round(8 + (step / Math.max(1, film.steps - 1)) * (width - 16));
  const at = new Set();
  for (const step of film.moments(Number(parts.kinds.value))) at.add(x(step));
  const d = [...at].map((x) => `M${x} 0v5`).join("");
  parts.marks.innerHTML = d ? `<path d="${d}"/>` : "";
}

// The nearest event before (way −1) or after (+1) a step; the step itself if there is none.
export function event(film, step, way, kind) {
  let found = step;
  for (const at of film.moments(kind)) {
    if ((at - step) * way > 0 && (found === step || (at - found) * way < 0)) found = at;
  }
  return found;
}

const KEYS = {
  " ": "play", ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last",
  ArrowUp: "cell_back", ArrowDown: "cell_forward", "[": "event_back", "]": "event_forward",
};

const ON_FIGURE = ["cell_back", "cell_forward", "zoom", "whole"];

// What a key asks for, or undefined where the element in focus needs the key itself.
export function asked(press, parts) {
  const { key, target } = press;
  if (press.ctrlKey || press.metaKey || press.altKey || target.tagName === "SELECT") return undefined;
  if (key === " " && target.tagName === "BUTTON") return undefined;
  if (ON_FIGURE.includes(KEYS[key]) && target !== parts.figure) return undefined;
  return KEYS[key];
}
