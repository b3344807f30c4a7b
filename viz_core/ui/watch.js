// Reports the theme in use and whether the window is narrow; calls back only when one of them differs from what Python knows.
export default function ({ parentElement, data, setStateValue }) {
  const known = { mode: data.mode, narrow: data.narrow ? "yes" : "no" };
  const luminance = (css) => {
    const probe = document.createElement("span");
    probe.style.color = css;
    parentElement.appendChild(probe);
    const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
    probe.remove();
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const report = () => {
    const host = parentElement.host ?? parentElement;
    const paper = getComputedStyle(host).getPropertyValue("--st-background-color").trim() || "#fff";
    const now = { mode: luminance(paper) < 128 ? "dark" : "light", narrow: window.innerWidth < 640 ? "yes" : "no" };
    for (const name of ["mode", "narrow"]) {
      if (now[name] !== known[name]) {
        known[name] = now[name];
        setStateValue(name, now[name]);
      }
    }
  };
  const timer = setInterval(report, 400);
  report();
  return () => clearInterval(timer);
}
