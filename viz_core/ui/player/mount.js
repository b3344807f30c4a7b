// What Streamlit calls: once for a place on the page, and again there whenever the data changes.

import { Player } from "./player.js";

const players = new WeakMap(); // the element that Streamlit gives us -> its player

export default function player({ data, parentElement, setStateValue }) {
  let one = players.get(parentElement);
  if (!one) {
    const root = document.createElement("div");
    root.className = "infersight-player";
    parentElement.append(root);
    one = new Player(root);
    players.set(parentElement, one);
  }
  one.load(data, (step) => setStateValue("step", step));
  return () => {
    one.close();
    one.root.remove();
    players.delete(parentElement);
  };
}
