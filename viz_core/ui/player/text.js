// Text in units of its type size, without asking the page: widths, line breaks, cuts.

// Width of a text: a Hanzi is 1, Latin about 0.55, a combining mark nothing.
export function measure(text) {
  let sum = 0;
  for (const char of text) sum += char.codePointAt(0) > 0x2e7f ? 1 : /[\u0300-\u036f\u200b-\u200f]/.test(char) ? 0 : 0.55;
  return sum;
}

export const widest = (texts) => texts.reduce((most, text) => Math.max(most, measure(text)), 0);

// Lines of at most `room`, broken at blanks and between Hanzi, never before a closing mark.
export function wrap(text, room) {
  const words = text.match(/[\u2e80-\uffff][，。、：；！？）」』”’]*|[^\s\u2e80-\uffff]+\s*|\s+/g) || [];
  const lines = [""];
  for (const word of words) {
    if (lines.at(-1) && measure(lines.at(-1) + word.trimEnd()) > room) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines;
}

// The text within `room`; what is too long loses its middle, for names often differ at their ends.
export function middle(text, room) {
  if (measure(text) <= room) return text;
  const [head, tail] = [[...text], []];
  while (head.length > tail.length) tail.unshift(head.pop());
  while (head.length && measure(head.join("") + tail.join("")) + 1 > room) {
    if (head.length >= tail.length) head.pop();
    else tail.shift();
  }
  return `${head.join("")}…${tail.join("")}`;
}

// The text, or as much of it as `room` holds, with an ellipsis.
export function cut(text, room) {
  if (measure(text) <= room) return text;
  const kept = [...text];
  while (kept.length > 1 && measure(kept.join("")) + 1 > room) kept.pop();
  return `${kept.join("").trimEnd()}…`;
}
