"""How fast the player is in Chromium: bytes plane by plane, first frame, steps a second, scrubbing.

Run by hand: `python -m tests.benchmarks.bench_player [STEPS] [CELLS] [made|recorded]` (10,000, 512 and made unless
given): a trace made for the purpose, or the film of a scheduler's run under pressure, of about as many steps. The
peer is the frame budget of the same browser in the same run: what an empty `requestAnimationFrame` loop reaches.
"""

from __future__ import annotations

import shutil
import sys
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tests.browser.conftest import NAMES, _started
from viz_core.paging.config import SchedulerConfig
from viz_core.paging.film import film
from viz_core.paging.metrics import measure as count
from viz_core.paging.run import run
from viz_core.paging.scenario import Ask, Prompt, Scenario
from viz_core.trace import State, Trace
from viz_core.trace_arrays import Arrays
from viz_core.trace_builder import TraceBuilder
from viz_core.trace_codec import decode, encode
from viz_core.ui.player import trace_html
from viz_core.ui.scenes.pa_counts import counted

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

APP = Path(__file__).parent / "player_app.py"


def trace(steps: int, cells: int, live: int = 8, block: int = 16) -> Trace:
    """`live` requests decode a token each a step in a pool of `cells` blocks; the oldest ends when no block is free."""
    builder = TraceBuilder(settle=State.HELD)
    pool = builder.lane("pool", cells, full=block, history=True)
    builder.set("state", pool, State.FREE)
    for label in ("player.save", "player.events"):
        builder.series(label)
    free, owned = list(range(cells)), {hue: list[int]() for hue in range(1, live + 1)}
    filled = dict.fromkeys(owned, block)
    for step in range(steps):
        hue = step % live + 1  # one request a step crosses into a new block at most
        for one in owned:
            filled[one] += one == hue or step % 4 == 0
            if filled[one] > block or not owned[one]:
                if not free:
                    oldest = max(owned, key=lambda h: len(owned[h]))
                    builder.set("state", owned[oldest], State.FREE)
                    builder.event("player.last")
                    free += owned[oldest]
                    owned[oldest] = []
                owned[one].append(free.pop(0))
                filled[one] = 1
                builder.set("hue", owned[one][-1], one)
        for last in owned[hue][-1:]:
            builder.set("state", last, State.COMPUTED)
            builder.set("fill", last, min(filled[hue], block))
        builder.value("player.save", cells - len(free))
        builder.value("player.events", sum(filled.values()))
        builder.step("player.several", first=step, last=hue)
    return builder.build()


def recorded(steps: int, cells: int) -> Trace:
    """About `steps` steps of vLLM's scheduler in a pool of `cells` blocks of 16: some ten requests at a time with a
    shared beginning, more than fit, so that they evict and preempt each other.
    """
    rng = np.random.default_rng(0)
    asks = tuple(
        Ask(
            f"r{i}",
            Prompt(((f"s{rng.integers(4)}", 64), (f"r{i}", int(rng.integers(100, 900))))),
            int(rng.integers(100, 700)),
            int(rng.integers(9 * steps // 10)),
        )
        for i in range(steps // 40)
    )
    recording = run(Scenario(cells, 16, requests=asks, scheduler=SchedulerConfig(max_num_seqs=64)))
    return counted(film([("run", recording)], "run"), [("run", count(recording))])


TRACES = {"made": trace, "recorded": recorded}


def by_part(blob: bytes) -> dict[str, int]:
    """Compressed bytes of each part of a film, each by itself."""
    decoded = decode(blob)
    header, arrays = decoded.header, decoded.arrays
    planes = {name: entry.get("values", entry.get("table")) for name, entry in header["planes"].items()}
    parts = {f"plane {name}": [index] for name, index in planes.items()}
    parts |= {"changes": header["changes"], "series": [one["line"] for one in header["series"]]}
    parts |= {"events": [one["steps"] for one in header["events"]]}
    return {name: sum(_stored(arrays[index]) for index in indices) for name, indices in parts.items()}


def _stored(array: NDArray[Any]) -> int:
    """Compressed bytes of one array as the film stores it."""
    arrays = Arrays()
    arrays.add(array)
    return len(zlib.compress(arrays.parts[0]))


FRAMES = """async (ms) => new Promise((done) => {
  const begin = performance.now(); let n = 0;
  const tick = (t) => { n++; t - begin < ms ? requestAnimationFrame(tick) : done(n / (t - begin) * 1000); };
  requestAnimationFrame(tick);
})"""
SCRUB = """(root) => {
  const range = root.querySelector("input"), most = Number(range.max), times = [];
  for (let i = 0; i < 60; i++) {
    range.value = Math.floor(most * ((i * 0.618) % 1));
    const begin = performance.now();
    range.dispatchEvent(new Event("input"));
    root.getBoundingClientRect();
    times.push(performance.now() - begin);
  }
  const first = times[0]; times.sort((a, b) => a - b);
  return { first, median: times[30], longest: times[59] };
}"""


DRAW = """(root) => {
  const range = root.querySelector("input"), count = Math.min(2000, Number(range.max)), begin = performance.now();
  for (let i = 0; i < count; i++) {
    range.value = i;
    range.dispatchEvent(new Event("input"));
  }
  return (performance.now() - begin) / count;
}"""


WATCH = """
const begun = performance.now();
new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(
  () => { window.painted ??= performance.now() - begun; },
))).observe(document.querySelector("main"), { attributes: true, subtree: true, attributeFilter: ["data-step"] });
player("""


def first_frame(browser: Browser, made: Trace) -> list[float]:
    """Milliseconds from the script's start to a painted first frame, on the page of its own, three times."""
    html = trace_html(made, "en").replace("\nplayer(", WATCH)
    times = []
    for _ in range(3):
        page = browser.new_page()
        page.set_content(html)
        times.append(page.wait_for_function("window.painted").json_value())
        page.close()
    return times


def rate(page: Page, speed: str, steps: int) -> float:
    """Steps a second that the screen shows at a speed, over four seconds or most of the film."""
    seconds = min(4, 0.5 * steps / int(speed))
    root = page.locator(".infersight-player")
    root.get_by_role("combobox", name="Speed").select_option(speed)
    root.get_by_role("button", name="First step").click()
    root.get_by_role("button", name="Play").click()
    page.wait_for_timeout(min(300, 200 * steps / int(speed)))
    begin, first = page.evaluate("performance.now()"), int(root.get_attribute("data-step") or 0)
    page.wait_for_timeout(seconds * 1000)
    end, last = page.evaluate("performance.now()"), int(root.get_attribute("data-step") or 0)
    if root.get_by_role("button", name="Pause").count():
        root.get_by_role("button", name="Pause").click()
    return (last - first) / (end - begin) * 1000


def measure(page: Page, steps: int) -> None:
    """Print the rows of one trace."""
    page.get_by_role("button", name="show").wait_for(timeout=60_000)
    page.wait_for_timeout(1500)
    begin = time.perf_counter()
    page.get_by_role("button", name="show").click()
    page.locator("[data-cell]").first.wait_for(timeout=60_000)
    print(f"click to first frame     {time.perf_counter() - begin:6.2f} s (rerun, transport, decoding, drawing)")
    root = page.locator(".infersight-player")
    scrub = root.evaluate(SCRUB)
    print("scrub anywhere           " + ", ".join(f"{name} {ms:.1f} ms" for name, ms in scrub.items()))
    print(f"one step, script only    {root.evaluate(DRAW):6.2f} ms")
    print(f"empty frame loop         {page.evaluate(FRAMES, 2000):6.1f} frames/s")
    for speed in ("60", "600", "6000", "60000"):
        if root.locator(f'.speed option[value="{speed}"]').count():
            print(f"at {int(speed) / 60:5g} steps a frame   {rate(page, speed, steps):8.1f} steps/s")


def main() -> None:
    """Measure one size."""
    from playwright.sync_api import sync_playwright

    wanted, size, kind = sys.argv[1:] + ["10000", "512", "made"][len(sys.argv) - 1 :]
    begin = time.perf_counter()
    made = TRACES[kind](int(wanted), int(size))
    built, steps = time.perf_counter(), made.steps
    blob = encode(made, "en")
    spent = time.perf_counter() - built
    print(f"{kind}: {steps} steps, {made.cells} cells; built in {built - begin:.2f} s, encoded in {spent:.2f} s")
    print(f"payload                  {len(blob) / 1000:6.0f} kB, {len(blob) / steps:.1f} bytes a step, of which")
    print("  " + ", ".join(f"{part} {bytes_ / 1000:.1f}" for part, bytes_ in by_part(blob).items()) + " kB")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        print("no Chromium on PATH: nothing was played")
        return
    address, server = _started(APP)
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
            frames = ", ".join(f"{ms:.0f}" for ms in first_frame(browser, made))
            print(f"script to first frame    {frames} ms (unpacking, decoding, drawing, painting)")
            for _ in range(2):  # the second visit finds a warm server and cache
                page = browser.new_page()
                page.goto(f"{address}/?steps={wanted}&cells={size}&kind={kind}")
                page.get_by_role("button", name="show").wait_for(timeout=120_000)
            measure(page, steps)
            browser.close()
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
